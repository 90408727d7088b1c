"""Text as Markdown and XML can hold it. Pure, no I/O."""

from __future__ import annotations

import re

from ..error import harmless, visible

ENTITY = re.compile(r"&(?=#?\w+;)")
SPECIAL = (("\\", "\\\\"), ("|", "\\|"), ("`", "\\`"), ("<", "&lt;"), ("](", "\\]("), ("][", "\\]\\["), ("]:", "\\]:"))
"""What means something in Markdown, and how it is written where it shall not."""
FOLDERS = re.compile(r"(?<![\w.~])/(?:[^\s/:;,()]+/)+")
"""The folders of an absolute path."""


def escaped(text: str) -> str:
    """Text that Markdown takes as it is: one line, in which no cell ends and no HTML, code, entity, link or image
    begins.
    """
    text = ENTITY.sub("&amp;", visible(" ".join(text.split("\n"))))
    for special, written in SPECIAL:
        text = text.replace(special, written)
    return text


def fit(text: str) -> str:
    """Text as XML can hold it, in which nothing is a command to a terminal; without the folders of this computer."""
    return FOLDERS.sub("", harmless(text))
