"""The steps of a trial, in order."""
