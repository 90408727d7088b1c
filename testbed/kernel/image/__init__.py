"""Builds lab kernels and keeps them in the user's cache."""
