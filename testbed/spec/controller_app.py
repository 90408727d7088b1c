"""Files that nodes of a topology name, whose text becomes part of it, so that it can be repeated: apps of controllers
and what lies beside them, configurations of FRR, rulesets of nftables. Reads files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from ..codec.fault import Path
from ..model.openflow import APPS
from .syntax import input_file
from .syntax.attachment import Folder, unread
from .syntax.document import Document, Position, mapping
from .topology.node import nodes_that

ALLOWED = "a file in UTF-8, relative to the topology file's folder"


def with_apps(document: Document, folder: Folder) -> Document:
    """The document of a topology with the text of every such file; what cannot be read is a fault of it."""
    for name, about in nodes_that(document.data, lambda kind: kind.openflow == "controller").items():
        if "command" not in about:  # see `controller_program`
            document = _with_files(document, name, about.get("files"), folder)
    for path, file, to in (*_apps(document), *_of_routers(document)):
        try:
            with folder.held(document, path, file) as held:
                said = input_file.read_text(held, input_file.SPEC_BYTES)
            text = Document(said, {(): document.positions.get(path, Position(file))})
        except OSError as error:
            fault = unread(path, file, error, ALLOWED)
            document = replace(document, faults=(*document.faults, fault))
            continue
        document = document.grafted(to, text)
    return document


def _apps(document: Document) -> Iterator[tuple[Path, str, Path]]:
    """Where each file is named, its name, and where its text goes."""
    for name, about in nodes_that(document.data, lambda kind: kind.openflow == "controller").items():
        app = about.get("app")
        if isinstance(app, str) and app not in APPS and "text" not in about and app.endswith(".py"):
            yield ("nodes", name, "app"), app, ("nodes", name, "text")


def _of_routers(document: Document) -> Iterator[tuple[Path, str, Path]]:
    for name, about in nodes_that(document.data, lambda kind: kind.forwards_packets).items():
        config, rules = mapping(about.get("frr")).get("config"), about.get("nftables")
        if isinstance(config, str) and "text" not in mapping(about.get("frr")):
            yield ("nodes", name, "frr", "config"), config, ("nodes", name, "frr", "text")
        if isinstance(rules, str) and "nftables_text" not in about:
            yield ("nodes", name, "nftables"), rules, ("nodes", name, "nftables_text")


def _with_files(document: Document, node: str, names: object, folder: Folder) -> Document:
    """A list of files with their texts in its place, as a mapping."""
    if not isinstance(names, list):
        return document
    path = ("nodes", node, "files")
    texts: dict[str, str] = {}
    for number, each in enumerate(names):
        at = (*path, number)
        try:
            if not isinstance(each, str) or os.path.basename(each) != each:
                raise OSError(0, "it is in another folder")
            with folder.held(document, at, each) as held:
                texts[each] = input_file.read_text(held, input_file.SPEC_BYTES)
        except OSError as error:
            fault = unread(at, each, error, ALLOWED)
            document = replace(document, faults=(*document.faults, fault))
    position = document.positions.get(path, Position(node))
    here: dict[Path, Position] = {(): position, **{(each,): position for each in texts}}
    return document.grafted(path, Document(texts, here))
