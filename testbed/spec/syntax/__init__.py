"""YAML with line numbers, and the files that a spec file names."""
