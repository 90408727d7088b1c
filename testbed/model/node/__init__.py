"""Nodes: what the nodes of each type can do, and what some of them have of their own."""
