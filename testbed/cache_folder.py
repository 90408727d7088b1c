"""Where this user's kernels, tools and journal are kept. Pure but for the environment."""

import os
from pathlib import Path


def user_folder() -> Path:
    """`$XDG_CACHE_HOME/testbed`, by default `~/.cache/testbed`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "testbed"
