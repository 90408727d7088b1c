"""Starts a network, for a trial, for `testbed up` and for exercises: the order, the machines, the memory."""
