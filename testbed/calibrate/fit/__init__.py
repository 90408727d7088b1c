"""Fits: one module for each property of a path, each a closed form with an interval and its rule. Pure, no I/O."""
