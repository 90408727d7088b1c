"""Readers of measurements: one module for each format. Read files, write nothing."""
