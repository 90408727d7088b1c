"""The folder of a trial read into values."""
