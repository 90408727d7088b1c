"""YAML with line numbers, and fields with units."""
