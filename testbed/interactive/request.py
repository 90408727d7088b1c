"""What a client may send to a running network, checked before it goes on to the agent. Pure, no I/O.

The agent trusts its channel: one message that it cannot read ends it, and the network with it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..agent import frame

DOES = ("down", "status", "session", "steps")
LATER = {
    frame.INPUT: None,
    frame.END_OF_INPUT: None,
    frame.RESIZE: frame.SIZE.size,
    frame.SIGNAL: frame.COUNT.size,
    frame.CLOSE: None,
    frame.TAKEN: frame.COUNT.size,
}
"""What may follow in a session, and how many bytes it has; None: any number."""
SIGNAL_MAX = 64
STEPS_FILE = re.compile(r"steps-\w+")
CELLS_MAX = 65_535
TEXTS = ("on", "netns", "folder", "name", "namespace")


class Refused(Exception):
    """Why a message is not passed on."""


def asked(payload: bytes) -> dict[str, Any]:
    """What an opening message asks for. Raises Refused."""
    try:
        said = json.loads(payload)
    except (ValueError, RecursionError):
        raise Refused("it is not JSON") from None
    if not isinstance(said, dict) or said.get("do") not in DOES:
        raise Refused(f"it asks for none of {', '.join(DOES)}")
    if said["do"] == "session":
        _refuse_session(said)
    elif said["do"] == "steps" and not STEPS_FILE.fullmatch(str(said.get("file"))):
        raise Refused("its file of steps has another name than ours")
    return said


def refuse_later(kind: int, payload: bytes) -> None:
    """Raises Refused for what cannot follow in a session."""
    if kind not in LATER or LATER[kind] not in (None, len(payload)):
        raise Refused(f"a message of kind {kind} with {len(payload)} bytes is none of a session")
    if kind == frame.SIGNAL and not 0 < frame.COUNT.unpack(payload)[0] <= SIGNAL_MAX:
        raise Refused("there is no such signal")


def _refuse_session(said: dict[str, Any]) -> None:
    words, environment = said.get("words"), said.get("environment", {})
    if not isinstance(words, list) or not words or not all(map(_is_text, words)):
        raise Refused("its words are no list of texts")
    if not isinstance(environment, dict) or not all(_is_text(each) for pair in environment.items() for each in pair):
        raise Refused("its environment is no object of texts")
    if any("=" in key or not key for key in environment):
        raise Refused("its environment has a name that none can have")
    for key in ("rows", "columns"):
        if not isinstance(said.get(key, 0), int) or not 0 <= said.get(key, 0) <= CELLS_MAX:
            raise Refused(f"its {key} are not 0 to {CELLS_MAX}")
    for key in TEXTS:
        if said.get(key) is not None and not _is_text(said[key]):
            raise Refused(f"its {key} is no text")


def _is_text(value: object) -> bool:
    """Text that a program can be given: Unicode, without the byte that ends it."""
    return isinstance(value, str) and "\0" not in value and not any("\ud800" <= each <= "\udbff" for each in value)
