"""Commands for classes: exercises, and the grading of submissions."""
