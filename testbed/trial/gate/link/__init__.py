"""Checks of the gate on links: what was set up, what it did to packets."""
