"""Where a plan runs, and the lab kernel: how it is made, kept and booted."""
