"""How fast trials are, on one core."""
