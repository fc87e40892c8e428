"""What screens have in common: pure values made from updates, no terminal."""
