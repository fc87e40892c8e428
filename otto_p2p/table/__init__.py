"""One peer at its table: lobby, match, time, and what its screen is told."""
