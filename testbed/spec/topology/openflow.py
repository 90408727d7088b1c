"""Open vSwitch, OpenFlow controllers and their programs as a topology file writes them. Pure, no I/O."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from typing import Self, TypeAlias

from ...codec.fault import Fault
from ...codec.keyed import Kind, inline, key, keyed
from ...codec.kind import DIGEST_PATTERN, FLAG, LINES, SPAN, TEXT, WORD, WORDS, mapped, record
from ...codec.scalar import lines_of, text_of
from ...error import ValueRefused, one_of
from ...model.link.impairment import IMPAIRMENTS, Direction, Impairment
from ...model.openflow import (
    APPS,
    APPS_SPEAK,
    CONTROLLER_PORT,
    PORT_NUMBER,
    RULES,
    VERSIONS,
    Controller,
    ControllerProgram,
    Ovs,
    Rule,
)
from ...model.topology import Node
from .link.impaired import Impaired, channel_keys, with_keys
from .node import NodeKeys

Pairs: TypeAlias = tuple[tuple[str, str], ...]


def read_versions(value: object) -> tuple[str, ...]:
    """In their order; one alone counts as a list."""
    allowed = f"one of {', '.join(VERSIONS)}, or a list of them"
    said = [text_of(each, allowed) for each in (value if isinstance(value, list | tuple) else [value])]
    for each in said:
        if each not in VERSIONS:
            raise ValueRefused(f"there is no OpenFlow {each}", one_of(tuple(VERSIONS), each))
    if not said or len(set(said)) < len(said):
        raise ValueRefused("these are no versions of OpenFlow", allowed)
    return tuple(each for each in VERSIONS if each in said)


_VERSION = {"anyOf": [{"type": "string", "pattern": r"^1\.[0-5]$"}, {"type": "number", "minimum": 1, "maximum": 1.5}]}
OPENFLOW_VERSIONS = Kind(read_versions, list, {"anyOf": [_VERSION, {"type": "array", "items": _VERSION}]})


def program_of(
    words: tuple[str, ...] | None, files: Mapping[str, str], python: str | None, environment: Pairs
) -> ControllerProgram | None:
    """None without words."""
    if words is None:
        return None
    return ControllerProgram(words, tuple(sorted(files.items())), python, tuple(sorted(environment)))


def program_faults(
    files: Mapping[str, str], python: str | None, app: str | None, text: str | None, start_ns: int | None
) -> Iterator[Fault]:
    """What is wrong between the keys of a program; paths begin at the node."""
    if app is not None:
        yield Fault(("command",), "app and command exclude each other", "one")
    if text is not None:
        yield Fault(("text",), "a program has no text", "no such line")
    if start_ns is not None:
        yield Fault(("start",), "only an app can start late", "no such line")
    if not all(re.fullmatch(DIGEST_PATTERN, digest) for digest in files.values()):
        yield Fault(("files",), "the files were not read", "files, relative to the topology file's folder")
    if python is not None and python not in files:
        yield Fault(("python",), f"there is no {python!r} among the files", "a virtual environment")


APP_ALLOWED = f"{', '.join(APPS)}, or a file such as my_app.py"


def read_app(value: object) -> str:
    text = text_of(value, APP_ALLOWED)
    if text not in APPS and not text.endswith(".py"):
        raise ValueRefused(f"there is no app {text!r}", one_of((*APPS, "FILE.py"), text))
    return text


APP = Kind(read_app, schema={"anyOf": [{"enum": list(APPS)}, {"type": "string", "pattern": r"\.py$"}]})


@keyed
class OvsNodeFile(NodeKeys):
    """A switch: Open vSwitch, with its own daemons."""

    type = "ovs"

    ovs: Ovs = inline(Ovs)


@keyed
@with_keys(channel_keys(row for row in IMPAIRMENTS.values() if row.on_channel))
class ControlFile(Impaired):
    """The channel between switches and their controller, apart from the network; forward is towards the controller."""

    @classmethod
    def rows(cls) -> tuple[Impairment, ...]:
        return tuple(row for row in IMPAIRMENTS.values() if row.on_channel)

    @classmethod
    def of(cls, forward: Direction, backward: Direction) -> ControlFile:
        return cls(**cls.written_of(forward, backward))


def read_files(value: object) -> dict[str, str]:
    """Texts by name; a list of names is none any more by now."""
    if not isinstance(value, dict):
        raise ValueRefused("this is not a list of files", FILES_ALLOWED)
    for name in value:
        if not re.fullmatch(FILE_PATTERN, str(name)) or name in OUR_FILES:
            raise ValueRefused(f"{name!r} cannot be the name of a file beside an app", FILES_ALLOWED, (name,))
    return {name: lines_of(text) for name, text in value.items()}


FILE_PATTERN = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
FILES_ALLOWED = "names of files in the topology's folder, such as [policy.csv]"
OUR_FILES = ("told.json", "pid", "events.jsonl", "packet-ins", "monitor.jsonl")
FILES = Kind(
    read_files,
    schema={
        "anyOf": [
            {"type": "array", "items": {"type": "string", "pattern": f"^{FILE_PATTERN}$"}},
            {"type": "object", "additionalProperties": {"type": "string"}},
        ]
    },
)


@keyed
class ControllerNodeFile(NodeKeys):
    """An OpenFlow controller, in a namespace of its own and on a channel apart from the network."""

    type = "controller"

    app: str | None = key("app", APP, default=None)
    command: tuple[str, ...] | None = key(
        "command",
        WORDS,
        "In place of an app: the words of a program. One with a slash is a file beside this file, and so "
        "is one that ends in .py.",
        default=None,
    )
    python: str | None = key(
        "python",
        TEXT,
        "The virtual environment of the program, a folder; default: the system's Python.",
        default=None,
    )
    environment: Pairs = key(
        "environment",
        mapped(WORD, TEXT),
        "Environment variables of the program, which has no others.",
        default=(),
    )
    port: int = key("port", PORT_NUMBER, "The port of TCP where it listens.", default=CONTROLLER_PORT)
    openflow: tuple[str, ...] | None = key(
        "openflow",
        OPENFLOW_VERSIONS,
        "The versions of OpenFlow that its switches offer; default: 1.0 to 1.5.",
        default=None,
    )
    text: str | None = key(
        "text", LINES, "The text of the app's file; default: read from the topology's folder.", default=None
    )
    files: Mapping[str, str] = key(
        "files",
        FILES,
        "Extra files to copy next to the app or program.",
        default={},
    )
    control: ControlFile | None = key(
        "control", record(ControlFile), "The channel to its switches; default: without delay.", default=None
    )
    rules: tuple[Rule, ...] = key(
        "rules",
        RULES,
        "The rules of the firewall: the first that matches applies; without a match, allow.",
        default=(),
    )
    interval: int | None = key("interval", SPAN, "How often the monitor asks; default: 1 s.", default=None)
    start: int | None = key(
        "start", SPAN, "When it starts, after the workload's start; default: before the workload.", default=None
    )
    stop: int | None = key("stop", SPAN, "When it is killed, after the workload's start; default: never.", default=None)
    loops: bool = key("loops", FLAG, "Whether the app (in a file) works in rings of switches.", default=False)

    def node(self, name: str) -> Node:
        return Node(name, self.type, controller=self.controller())

    def controller(self) -> Controller:
        control = self.control or ControlFile()
        return Controller(
            app=self.app or os.path.basename((self.command or ("",))[0]),
            program=program_of(self.command, self.files, self.python, self.environment),
            port=self.port,
            versions=self.openflow or (),
            text=self.text,
            forward=control.direction("forward"),
            backward=control.direction("backward"),
            rules=self.rules,
            interval_ns=self.interval,
            start_ns=self.start,
            stop_ns=self.stop,
            loops=self.loops,
            files=() if self.command is not None else tuple(self.files.items()),
        )

    @classmethod
    def of(cls, node: Node) -> Self:
        controller = node.controller
        assert controller is not None, "BUG: a controller without its values"
        program = controller.program
        control = ControlFile.of(controller.forward, controller.backward)
        return cls(
            app=controller.app if program is None else None,
            command=None if program is None else program.words,
            python=None if program is None else program.python,
            environment=() if program is None else program.environment,
            port=controller.port,
            openflow=controller.versions or None,
            text=controller.text,
            control=control if control.written() else None,
            rules=controller.rules,
            interval=controller.interval_ns,
            start=controller.start_ns,
            stop=controller.stop_ns,
            loops=controller.loops,
            files=dict(controller.files if program is None else program.files),
        )

    def faults(self) -> Iterator[Fault]:
        """What is wrong between its keys; paths begin at the node."""
        whose = "a program" if self.app is None else f"the app {self.app}"
        for app, name, given in (("firewall", "rules", self.rules), ("monitor", "interval", self.interval)):
            if given and self.app != app:
                yield Fault((name,), f"{whose} takes no {name}", f"'app: {app}', or no such line")
        if self.start is not None and self.stop is not None and self.stop <= self.start:
            yield Fault(("stop",), "it would be killed before it starts", "a time after 'start'")
        if self.control is not None:
            yield from (fault.under("control") for fault in self.control.conflicts())
        for number_, rule in enumerate(self.rules):
            yield from (fault.under("rules", number_) for fault in rule.faults())
        yield from self._app_faults()

    def _app_faults(self) -> Iterator[Fault]:
        if self.command is not None:
            yield from program_faults(self.files, self.python, self.app, self.text, self.start)
            return
        if self.app is None:
            yield Fault((), "the key 'app' is missing", named=True)
            return
        for name in ("python", "environment"):
            if getattr(self, name):
                yield Fault((name,), "only a controller with 'command' has this key", "no such line")
        if self.port != CONTROLLER_PORT:
            yield Fault(("port",), "an app listens where its switches look for it", "no such line, or 'command'")
        if self.app in APPS:
            if self.text is not None:
                yield Fault(("text",), f"{self.app} is a built-in app and has no text", "no such line")
            if self.files:
                yield Fault(("files",), "only apps in files have this key", "no such line")
            if self.loops:
                yield Fault(("loops",), "only apps in files have this key", "no such line")
            if self.openflow is not None and APPS_SPEAK not in self.openflow:
                yield Fault(
                    ("openflow",), f"the app {self.app} speaks OpenFlow {APPS_SPEAK}", f"{APPS_SPEAK} among them"
                )
        elif self.text is None:
            yield Fault(
                ("app",), f"the file {self.app!r} was not read", "a file, relative to the topology file's folder"
            )
        else:
            if self.app.rpartition("/")[2] in self.files:
                yield Fault(("files",), f"{self.app} is the app itself", "other files", named=True)
            yield from _syntax_faults(self.app, self.text)


def _syntax_faults(app: str, text: str) -> Iterator[Fault]:
    allowed = "an app that Python can read, with a class that is an OSKenApp (or RyuApp)"
    try:
        tree = ast.parse(text, app)
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        yield Fault(("app",), f"{app}{line}: {what}", allowed)
        return
    except (RecursionError, MemoryError):  # which is how Python's parser ends what is nested deeply
        yield Fault(("app",), f"{app} is nested too deeply for Python", allowed)
        return
    for number, part in _missing_parts(tree):
        what = f"{app}:{number}: {part} is a part of Ryu that os-ken does not have"
        yield Fault(("app",), what, REST_ALLOWED)
    for number, name in _old_names(tree):
        yield Fault(("app",), f"{app}:{number}: {name} is a part of Python 2", "an app for Python 3")
    if not any(isinstance(each, ast.ClassDef) for each in tree.body):
        yield Fault(("app",), f"{app} has no class, so it is not an app", allowed)


OLD_NAMES = frozenset({"basestring", "buffer", "long", "raw_input", "unichr", "unicode", "xrange"})
"""What Python 2 has built in, and Python 3 has not; samples of Ryu use it."""


def _old_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where an app uses them, each once. What it defines itself, or in a `try` may miss, is its own."""
    nodes, tried, left = list(ast.walk(tree)), _tried(tree), set(OLD_NAMES)
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            left.discard(node.id)
        elif isinstance(node, ast.arg):
            left.discard(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            left.discard(node.name)
        elif isinstance(node, ast.alias):
            left.discard(node.asname or node.name)
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in left and id(node) not in tried:
            left.discard(node.id)
            yield node.lineno, node.id


def _tried(tree: ast.Module) -> set[int]:
    """What is in a `try`, by its id."""
    return {id(inside) for each in ast.walk(tree) if isinstance(each, ast.Try) for inside in ast.walk(each)}


RYU_APPS = frozenset({"ofctl", "simple_switch_13"})
"""The parts of `ryu.app` that there are: os-ken's own, and what we add."""
REST_ALLOWED = (
    "ryu.app.ofctl and ryu.app.simple_switch_13, or Ryu itself as a program in a virtual environment of its own "
    "(command: [ryu-manager, …], python: …)"
)


def _missing_parts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Imports of apps that came with Ryu and are not there, with their lines. What is in a `try` may be missing."""
    tried = _tried(tree)
    for node in ast.walk(tree):
        if id(node) not in tried and isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((node.lineno, name) for name in _imports(node) if _is_missing(name))


def _imports(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [each.name for each in node.names]
    if node.module in ("ryu.app", "os_ken.app"):
        return [f"{node.module}.{each.name}" for each in node.names]
    return [node.module or ""] if node.level == 0 else []


def _is_missing(name: str) -> bool:
    words = name.split(".")
    return len(words) > 2 and words[0] in ("ryu", "os_ken") and words[1] == "app" and words[2] not in RYU_APPS


NODES: tuple[type[NodeKeys], ...] = (OvsNodeFile, ControllerNodeFile)
"""The node types of this module."""
