"""Congestion controls in the document of a scenario: where they are named, and the object files in BPF among them,
which are read, kept, and known by their content and the name that they register. Reads files, and copies them into the
user's cache.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from ..codec.fault import Fault
from ..codec.fault import Path as At
from ..error import SpecError, ValueRefused
from ..model.workload.control import OBJECT_ALLOWED, BpfControl
from ..model.workload.iperf3 import Iperf3Workload
from . import bpf_object, program_store
from .syntax import input_file
from .syntax.attachment import Folder, unread
from .syntax.document import Data, Document, mapping

KEYS = ("congestion", "tcp_congestion_control")
"""What a key that names a control ends in: of a workload, a sysctl, an axis, a rule about an axis."""
MOST_BYTES = 16 << 20
OBJECT = "bpf"


def names_control(key: str) -> bool:
    """Whether a key names a control, or one of its members, if it is a group of axes."""
    return any(each.strip().rpartition(".")[2] in KEYS for each in key.split("+"))


def named(document: Document) -> Iterator[tuple[At, Data]]:
    """Where a document names controls, and the names; of an object file, its place below the key `bpf`."""
    return _named(document.data, ())


def _named(data: Data, path: At, is_control: bool = False) -> Iterator[tuple[At, Data]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _named(value, (*path, key), is_control or names_control(str(key)))
    elif isinstance(data, list):
        for place, value in enumerate(data):
            yield from _named(value, (*path, place), is_control)
    elif is_control:
        yield path, data


def with_objects(document: Document, folder: Folder) -> Document:
    """The document of a scenario, in which the object files of iperf3 are told by what they register and their SHA-256.
    What cannot be read, or is no control, is a fault of it.
    """
    for at, said in list(_objects(document)):
        try:
            with folder.held(document, at, said) as held:
                source = Path(os.readlink(held))
                data = input_file.read(held, MOST_BYTES)
            control = BpfControl(bpf_object.control_of(data), hashlib.sha256(data).hexdigest())
        except OSError as error:
            fault = unread(at[:-1], said, error, OBJECT_ALLOWED)
            document = replace(document, faults=(*document.faults, fault))
        except ValueRefused as refused:
            fault = Fault(at[:-1], f"{said}: {refused.what}", refused.allowed)
            document = replace(document, faults=(*document.faults, fault))
        else:
            folder.last.append(partial(_keep, document, at, control, source))
            told, position = control.written(), document.positions[at]
            twig = Document(told, dict.fromkeys(((), *((key,) for key in told)), position))
            document = document.planted(at[:-1], twig)
    return document


def object_files(document: Document, folder: Folder) -> dict[str, str]:
    """Where the object files that a scenario names are kept, by the names that they have there."""
    known = dict(named(with_objects(document, folder)))
    controls = [BpfControl(str(name), str(known[*at[:-1], "sha256"])) for at, name in known.items() if at[-1] == OBJECT]
    files = {each.file: program_store.place(each.file, ((each.file, each.sha256),)) for each in controls}
    return {name: str(path) for name, path in files.items() if path.is_file()}


def _objects(document: Document) -> Iterator[tuple[At, str]]:
    """The object files that are named, and not told yet. Tools of one kernel refuse them."""
    if mapping(mapping(document.data).get("workload")).get("tool") != Iperf3Workload.tool:
        return
    found = dict(named(document))
    keys = Counter(at[:-1] for at in found)
    yield from (
        (at, said) for at, said in found.items() if at[-1] == OBJECT and keys[at[:-1]] == 1 and isinstance(said, str)
    )


def _keep(document: Document, at: At, control: BpfControl, source: Path) -> None:
    try:
        program_store.keep({control.file: source}, ((control.file, control.sha256),))
    except OSError as error:
        fault = Fault(at, f"{source} cannot be kept: {error.strerror or error}", OBJECT_ALLOWED)
        raise SpecError([document.problem(fault)]) from None
