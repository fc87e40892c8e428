"""The group and everything proven in it."""
