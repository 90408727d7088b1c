"""A kernel's ingredients besides its source: a configuration fragment and our patches.

Reads the recipe folder: `kernel/` in a checkout, to which `testbed/_kernel` is a link that a wheel resolves.
"""

import hashlib
import re
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

from ...codec.frozen import dataclass

Use = Literal["lab", "vm"]
"""What a kernel is for: labs, or virtual machines."""

FOLDER = Path(__file__).parents[2] / "_kernel"
HOT, TRAINING = "hot", "training.yaml"
OPTION = re.compile(r"^(CONFIG_\w+)=(.*)$|^# (CONFIG_\w+) is not set$", re.MULTILINE)


@dataclass(frozen=True)
class Patch:
    """A change of ours to the kernel; its header says why."""

    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class Recipe:
    """`hot` are the objects to compile by a profile, and `training` the scenario whose trials make it."""

    fragment: str
    patches: tuple[Patch, ...]
    hot: tuple[str, ...] = ()
    training: str = ""

    @cached_property
    def sha256(self) -> str:
        """Over the fragment (comments aside), the patches, and what makes the profile."""
        parts = [f"{option}={value}" for option, value in sorted(self.wanted.items())]
        parts += [f"{patch.name} {patch.sha256}" for patch in self.patches]
        parts += [f"hot {each}" for each in self.hot] + ([f"training {self.training}"] if self.training else [])
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def wanted(self) -> dict[str, str]:
        """Option to value, as in the fragment: y, n, a number or a quoted text."""
        return options(self.fragment)

    def refused(self, config: str) -> tuple[str, ...]:
        """The wanted options that a finished configuration does not have, as `CONFIG_X=wanted (is got)`."""
        got = options(config)
        return tuple(
            f"{option}={value} (is {got.get(option, 'n')})"
            for option, value in self.wanted.items()
            if got.get(option, "n") != value
        )


def options(config: str) -> dict[str, str]:
    """The options of a kernel configuration; the last line about an option counts, and "is not set" is n."""
    return {given or unset: value.strip() or "n" for given, value, unset in OPTION.findall(config)}


@cache
def load(use: Use) -> Recipe:
    """The recipe that comes with the testbed: what all kernels have, and what those for this use have in addition. Read
    once, as are our modules: every plan asks for it.
    """
    home = FOLDER / use
    fragment = (FOLDER / "config").read_text() + (home / "config").read_text()
    patches = sorted((home / "patches").glob("*.patch"))
    hot, training = ((home / name).read_text() if (home / name).exists() else "" for name in (HOT, TRAINING))
    return Recipe(fragment, tuple(Patch(path.name, path.read_text()) for path in patches), tuple(hot.split()), training)
