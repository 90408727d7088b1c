"""Comparisons: a run with another run, and a run with a published profile."""
