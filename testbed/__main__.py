"""`python -m testbed` is the same as the command `testbed`."""

from .cli import main

main()
