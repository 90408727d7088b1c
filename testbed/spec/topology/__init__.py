"""Topology files: their keys, and the rules between them."""
