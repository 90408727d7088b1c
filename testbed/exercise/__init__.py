"""Exercises: their format, what is expected of a network, marks, and the grading of many submissions."""
