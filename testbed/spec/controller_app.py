"""App files: what controllers of a topology name is read and becomes part of it, so that it can be repeated. Reads
files.
"""

from __future__ import annotations

import os
from dataclasses import replace

from ..model.openflow import APPS
from .syntax import input_file
from .syntax.document import Document, Fault, Position
from .topology.node.keys import nodes_that

ALLOWED = "a file in UTF-8, relative to the topology file's folder"


def with_apps(document: Document, folder: str) -> Document:
    """The document of a topology with the `text` of every app in a file; what cannot be read is a fault of it."""
    for name, about in nodes_that(document.data, lambda kind: kind.openflow == "controller").items():
        app = about.get("app")
        if not isinstance(app, str) or app in APPS or "text" in about:
            continue
        if not app.endswith(".py"):
            continue
        path = ("nodes", name, "app")
        try:
            said = input_file.read_text(os.path.join(folder, app), input_file.SPEC_BYTES)
            text = Document(said, {(): document.positions.get(path, Position(app))})
        except OSError as error:
            fault = Fault(path, f"the file {app!r} cannot be read: {error.strerror}", ALLOWED)
            document = replace(document, faults=(*document.faults, fault))
            continue
        document = document.grafted(("nodes", name, "text"), text)
    return document
