"""Running networks, for people to work in: starts them, keeps them, connects to them, shows their state."""
