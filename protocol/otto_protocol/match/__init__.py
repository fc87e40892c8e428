"""A match: its messages, its public state, one seat of it, its audit."""
