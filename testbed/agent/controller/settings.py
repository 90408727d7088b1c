"""What this controller was told, in the file told.json of its folder. Reads that file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def folder() -> Path:
    """Where its files are: what it was told, and what it tells."""
    return Path(sys.argv[1])


def told() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder() / "told.json").read_text())
    return found
