"""The publications, one module each (and one for each group of its checks)."""
