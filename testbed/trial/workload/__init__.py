"""Workload tools: for each tool the steps that run it, and how to read its output."""
