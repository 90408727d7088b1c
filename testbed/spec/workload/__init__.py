"""Workloads and background traffic as files write them, one module for each tool."""
