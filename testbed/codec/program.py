"""Programs of users as files write them: their words, and files beside the spec file, by content. Pure, no I/O."""

from __future__ import annotations

import re
from typing import Any

from ..error import ValueRefused
from .keyed import Kind
from .scalar import lines_of, text_of

WORDS_MAX = 200
FILE_PATTERN = r"[A-Za-z0-9_+@][A-Za-z0-9_.+@-]{0,99}"
DIGEST_PATTERN = r"[0-9a-f]{64}"
_RUN_ALLOWED = "the words of a program, such as [iperf3, -s], or one text without quotes in it"
_FILES_ALLOWED = "files beside this one, such as [quic-server, cert.pem]"


def _run(value: object) -> tuple[str, ...]:
    words: Any = value.split() if isinstance(value, str) else value
    if isinstance(value, str) and re.search("[\"'\\\\|;&<>$`]", value):
        raise ValueRefused("no shell reads this", _RUN_ALLOWED)
    if not isinstance(words, list | tuple) or not words:
        raise ValueRefused("this is no program", _RUN_ALLOWED)
    if len(words) > WORDS_MAX:
        raise ValueRefused(f"this has {len(words)} words", f"up to {WORDS_MAX}")
    found = []
    for index, word in enumerate(words):
        try:
            found.append(lines_of(word))
        except ValueRefused as refused:
            raise ValueRefused(refused.what, refused.allowed, (index,)) from None
    text_of(found[0], _RUN_ALLOWED)
    if not found[0]:
        raise ValueRefused("the program has no name", _RUN_ALLOWED)
    return tuple(found)


def _files(value: object) -> dict[str, str]:
    """Names to their SHA-256; that of a file which was not read yet is empty."""
    items = {each: "" for each in value} if isinstance(value, list) else value
    if not isinstance(items, dict):
        raise ValueRefused("this is not a list", _FILES_ALLOWED)
    for name, digest in items.items():
        if not re.fullmatch(FILE_PATTERN, str(name)):
            raise ValueRefused(f"{name!r} is no name of a file", "letters, digits and _.+@-", (name,))
        if isinstance(value, dict) and not re.fullmatch(DIGEST_PATTERN, str(digest)):
            raise ValueRefused(f"{digest!r} is no SHA-256", "64 of 0-9 and a-f", (name,))
    return {str(name): str(digest) for name, digest in items.items()}


WORDS = Kind(
    _run,
    list,
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1}]},
)
FILES = Kind(_files, schema={"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object"}]})
