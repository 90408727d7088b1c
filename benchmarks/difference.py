"""What must repeat in a run's folder: the digest of each trial, and what differs from another run's. Reads files.

Files count byte for byte, but for what tells of the computer and the hour (LEFT_OUT), or which checkout it was
(OWN_KEYS, NAMES).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

RUN = "(run)"
"""In place of a trial's id: the run's list of trials, its tables and the files that it was given."""

LEFT_OUT = frozenset({"host.json", "host.parquet", "lock"})
OWN_KEYS: dict[str, tuple[str, ...]] = {
    "provenance.json": ("testbed", "programs", "software"),
    "run.json": ("testbed",),
}
"""JSON files with keys that say which version of the testbed, and which source of its programs, was used."""

NAMES = (
    (re.compile(r"\btestbed\.(sdn|agent\.controller)\b"), "testbed.CONTROLLER"),
    (re.compile(r"\b(agent/)?mininet_?driver\.py"), "MININET_DRIVER"),
)
"""Programs of ours that a plan and its steps name: what they were called and are, each with what stands for all."""

NAMING = frozenset({"plan.sh", "steps.json", "log.jsonl"})
"""The files in which NAMES and the checkout's path are replaced."""

DETAILS = 8
"""Keys of one file that are told at most."""


@dataclass(frozen=True)
class Results:
    """A folder with the results of scenarios, each below its name, and the checkout that measured them."""

    folder: Path
    checkout: Path

    def ids(self, scenario: str) -> tuple[str, ...]:
        """RUN, the trials that belong to the run, and any others that are there."""
        folder = self.folder / scenario
        listed = _json_or_none(folder / "run.json") or {}
        found = (path.name for kind in ("trials", "failed") for path in sorted((folder / kind).glob("*")))
        return tuple(dict.fromkeys((RUN, *listed.get("trials", ()), *found)))

    def state(self, scenario: str, id: str) -> str:
        """The verdict of a trial; `done` for a run that has trials; else `missing`."""
        if id == RUN:
            return "done" if len(self.ids(scenario)) > 1 and self._files(scenario, id) else "missing"
        result = _json_or_none(self.folder / scenario / "trials" / id / "result.json") or {}
        return str(result.get("verdict", "missing"))

    def contents(self, scenario: str, id: str) -> dict[str, bytes]:
        """What counts of each file, by its name."""
        return {name: self._content(path) for name, path in self._files(scenario, id).items()}

    def digest(self, scenario: str, id: str) -> str:
        """SHA-256, in hexadecimal, over the names and contents of all files that count."""
        whole = hashlib.sha256()
        for name, content in sorted(self.contents(scenario, id).items()):
            whole.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
        return whole.hexdigest()

    def _files(self, scenario: str, id: str) -> dict[str, Path]:
        folder = self.folder / scenario
        if id == RUN:
            found = [*folder.glob("*.*"), *folder.glob("spec/*")]
        else:
            folder = folder / "trials" / id
            found = [*folder.rglob("*")]
        return {str(path.relative_to(folder)): path for path in found if path.is_file() and path.name not in LEFT_OUT}

    def _content(self, path: Path) -> bytes:
        content = path.read_bytes()
        if path.name in OWN_KEYS:
            data = json.loads(content)
            content = json.dumps(
                {key: data[key] for key in sorted(data) if key not in OWN_KEYS[path.name]}, sort_keys=True
            ).encode()
        if path.name in NAMING:
            text = content.decode().replace(str(self.checkout), "CHECKOUT")
            for pattern, stands in NAMES:
                text = pattern.sub(stands, text)
            content = text.encode()
        return content


def differences(new: Mapping[str, bytes], old: Mapping[str, bytes]) -> dict[str, list[str]]:
    """The files in which two trials differ, JSON files with their keys and tables with their columns; none for others.

    What only the new one has is `added`, what only the old one has is `gone`.
    """
    return {
        name: _details(name, new[name], old[name]) if name in new and name in old else [_only(new, name)]
        for name in sorted(new.keys() | old.keys())
        if new.get(name) != old.get(name)
    }


def _only(new: Container[str], name: str) -> str:
    return "added" if name in new else "gone"


def _details(name: str, new: bytes, old: bytes) -> list[str]:
    if name.endswith(".json"):
        found = keys(json.loads(new), json.loads(old))
    elif name.endswith(".jsonl"):
        found = keys([*map(json.loads, new.splitlines())], [*map(json.loads, old.splitlines())])
    elif name.endswith(".parquet"):
        found = columns(pq.read_table(pa.BufferReader(new)), pq.read_table(pa.BufferReader(old)))
    else:
        return []
    return sorted(dict.fromkeys(found), key=lambda each: not each.endswith((" added", " gone"))) or ["no value"]


def told(found: Mapping[str, Sequence[str]]) -> str:
    """The files, each with the first of its keys."""
    return ", ".join(name + (f" ({_few(each)})" if each else "") for name, each in found.items())


def _few(details: Sequence[str]) -> str:
    return ", ".join(details[:DETAILS]) + (", …" if len(details) > DETAILS else "")


def keys(new: Any, old: Any, at: str = "") -> Iterator[str]:
    """Where two JSON values differ; entries of lists are not told apart."""
    if isinstance(new, dict) and isinstance(old, dict):
        for key in dict.fromkeys((*new, *old)):
            path = f"{at}.{key}" if at else str(key)
            if key in new and key in old:
                yield from keys(new[key], old[key], path)
            else:
                yield f"{path} {_only(new, key)}"
    elif isinstance(new, list) and isinstance(old, list):
        if len(new) != len(old):
            yield f"{at}[] has {len(new)} entries for {len(old)}"
        for one, another in zip(new, old, strict=False):
            yield from keys(one, another, f"{at}[]")
    elif json.dumps(new) != json.dumps(old):  # 1 and 1.0 are not the same
        yield at


def columns(new: Any, old: Any) -> Iterator[str]:
    """The columns in which two tables (pyarrow.Table) differ."""
    if new.num_rows != old.num_rows:
        yield f"{new.num_rows} rows for {old.num_rows}"
    for name in dict.fromkeys((*new.column_names, *old.column_names)):
        if name not in new.column_names or name not in old.column_names:
            yield f"{name} {_only(new.column_names, name)}"
        elif new.num_rows == old.num_rows and not new[name].equals(old[name]):
            yield name


def _json_or_none(path: Path) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
