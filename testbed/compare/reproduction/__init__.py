"""Reproduction of publications: rows of printed results, the runs that they are judged by, and the table."""
