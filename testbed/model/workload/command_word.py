"""Placeholders in the words of programs, such as {server.address}. Pure, no I/O.

All other braces stay as they are: programs have their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

FIXED = ("out", "seed", "duration", "variant")
ROLES = ("server", "client")
PLACEHOLDER = re.compile(r"(?<![%$])\{(?:([a-z0-9][a-z0-9-]{0,31})\.address|(" + "|".join(FIXED) + r"))\}")


def named(words: Iterable[str]) -> Iterator[str]:
    """What the words name: each of FIXED, and the names before `.address`."""
    for word in words:
        for found in PLACEHOLDER.finditer(word):
            yield found[2] or f"{found[1]}.address"


def filled(word: str, value_of: Callable[[str], str]) -> str:
    """The word with its placeholders replaced by their values."""
    return PLACEHOLDER.sub(lambda found: value_of(found[2] or f"{found[1]}.address"), word)
