"""What a page is made of: its assets, and data as JSON that can stand in HTML. Pure, but for reading the assets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..error import harmless

SHARED = Path(__file__).with_name("assets")
"""Scripts of several pages: elements (dom.js), colours and numbers (look.js), the shapes of nodes (shape.js)."""

_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def asset(folder: Path, name: str) -> str:
    return (folder / name).read_text(encoding="utf-8")


def data(view: Any) -> str:
    """JSON that can stand in HTML, and whose texts are harmless. Raises ValueError for a number that JSON has not."""
    return json.dumps(_shown(view), separators=(",", ":"), allow_nan=False, ensure_ascii=False).translate(_ESCAPED)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {harmless(key) if isinstance(key, str) else key: _shown(each) for key, each in value.items()}
    return [_shown(each) for each in value] if isinstance(value, list | tuple) else value
