"""Checks that compare what was asked with what was seen, and the verdict over their findings."""
