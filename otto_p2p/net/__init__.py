"""Links to peers: found, proven, kept. Knows nothing of the game."""
