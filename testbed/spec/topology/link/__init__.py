"""The keys of a link."""
