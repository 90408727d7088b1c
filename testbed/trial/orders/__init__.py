"""Everything that a trial has a kernel do, in order."""
