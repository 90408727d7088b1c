"""The rows of each publication, and the groups of their checks."""
