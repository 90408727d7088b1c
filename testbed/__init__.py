"""A network emulation testbed: real TCP over exact paths, in virtual time."""

__version__ = "0.1.0"
