"""The built-in player."""
