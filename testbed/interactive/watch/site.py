"""What the live page of running networks asks for, and its answers. Asks the keepers of the networks."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from ...browser.page_text import data
from ...browser.server import Answer, Asked
from ...error import MachineError, TestbedError, UserError
from .. import link_change
from ..overview import overview
from ..running_network import RunningNetwork, networks
from .flow_table import flow_table
from .node_log import node_log
from .page import page, policy
from .picture import picture
from .terminals import Terminals

LOOK_S = 0.4
"""However many look: a network is asked for its counters at most so often."""


class Watch:
    """The page of all running networks of this user, or of the one with a name. Answers from several threads."""

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.terminals = Terminals()
        self._looking: dict[str, threading.Lock] = {}
        self._looks: dict[str, tuple[float, dict[str, Any]]] = {}

    def answer(self, asked: Asked) -> Answer | None:
        """None for what there is not. What goes wrong in a network is told to the page as JSON: {"error": text}."""
        if (asked.method, asked.path) == ("GET", ""):
            nonce = secrets.token_urlsafe(16)
            return Answer("text/html", page(nonce), {"Content-Security-Policy": policy(nonce)})
        do = ANSWERS.get((asked.method, asked.path))
        if do is None:
            return None
        try:
            return Answer("application/json", data(do(self, asked)))
        except TestbedError as error:
            return Answer("application/json", data({"error": str(error)}))

    def state(self, asked: Asked) -> dict[str, Any]:
        """The networks that are up; of the one that was asked for, or else the first, all that there is to show."""
        up = self._networks()
        chosen = up.get(asked.query.get("network", "")) or next(iter(up.values()), None)
        told: dict[str, Any] = {"networks": list(up), "only": self.name, "shown": None}
        if chosen is None:
            return told
        try:
            return told | {"shown": chosen.name} | self._look(chosen)
        except MachineError as error:  # between two looks
            return told | {"error": str(error)}

    def flows(self, asked: Asked) -> dict[str, Any]:
        return flow_table(self._network(asked.query), asked.query.get("node", ""))

    def log(self, asked: Asked) -> dict[str, Any]:
        return node_log(self._network(asked.query), asked.query.get("node", ""))

    def link(self, asked: Asked) -> dict[str, Any]:
        """Pulls a cable out, or puts it in again."""
        said = _object(asked)
        network = self._network(said)
        with self._looking.setdefault(network.name, threading.Lock()):
            link_change.pull(network, str(said.get("link")), down=said.get("down") is True)
            self._looks.pop(network.name, None)
        return {}

    def open(self, asked: Asked) -> dict[str, Any]:
        said = _object(asked)
        number = self.terminals.open(self._network(said), str(said.get("node")), *_size(said))
        return {"terminal": number}

    def put(self, asked: Asked) -> dict[str, Any]:
        return {"taken": self.terminals.put(_number(asked.query.get("terminal")), asked.body)}

    def resize(self, asked: Asked) -> dict[str, Any]:
        said = _object(asked)
        self.terminals.resize(_number(said.get("terminal")), *_size(said))
        return {}

    def close(self, asked: Asked) -> dict[str, Any]:
        self.terminals.close(_number(asked.query.get("terminal")))
        return {}

    def output(self, asked: Asked) -> dict[str, Any]:
        said = _object(asked)
        return self.terminals.output({_number(number): _number(heard) for number, heard in said.items()})

    def _networks(self) -> dict[str, RunningNetwork]:
        found = {each.name: each for each in networks() if each.is_ready}
        return found if self.name is None else {name: each for name, each in found.items() if name == self.name}

    def _network(self, said: Mapping[str, Any]) -> RunningNetwork:
        found = self._networks().get(str(said.get("network")))
        if found is None:
            raise UserError(f"no network {said.get('network')!r} is up")
        return found

    def _look(self, network: RunningNetwork) -> dict[str, Any]:
        """One look at a time; a network that does not answer holds up no other."""
        with self._looking.setdefault(network.name, threading.Lock()):
            at, told = self._looks.get(network.name, (-LOOK_S, {}))
            fresh = told.get("since") == network.since and time.monotonic() - at < LOOK_S
            if not fresh:
                told = {"overview": overview(network), "picture": picture(network), "since": network.since}
                self._looks[network.name] = (time.monotonic(), told)
            return told


def _object(asked: Asked) -> dict[str, Any]:
    try:
        said = json.loads(asked.body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise UserError("that is no JSON object; allowed: what the page sends")
    return said


def _number(value: object) -> int:
    """Raises UserError for what is no whole number."""
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise UserError(f"{text[:40]!r} is no number; allowed: what the page sends")
    return int(text)


def _size(said: Mapping[str, Any]) -> tuple[int, int]:
    return _number(said.get("rows")), _number(said.get("columns"))


ANSWERS: dict[tuple[str, str], Callable[[Watch, Asked], dict[str, Any]]] = {
    ("GET", "state"): Watch.state,
    ("GET", "flows"): Watch.flows,
    ("GET", "log"): Watch.log,
    ("POST", "link"): Watch.link,
    ("POST", "open"): Watch.open,
    ("POST", "input"): Watch.put,
    ("POST", "size"): Watch.resize,
    ("POST", "close"): Watch.close,
    ("POST", "output"): Watch.output,
}
