"""Comparisons: of a run with another run, and of a run with a published profile."""
