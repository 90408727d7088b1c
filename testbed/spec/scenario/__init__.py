"""Scenario files and stored trials: axes, ranges, exclusions, overrides, cells."""
