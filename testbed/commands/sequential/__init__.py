"""Comparisons that add trials until they can tell."""
