"""Otto over mental poker, pure: no I/O, no clock, no hidden randomness."""
