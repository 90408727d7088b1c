"""Files of numbers that a workload names, such as times of arrivals: what they say becomes part of it. Reads files."""

from __future__ import annotations

from dataclasses import replace

from ..model.workload.arrival import PUBLISHED
from .syntax import input_file
from .syntax.attachment import Folder, unread
from .syntax.document import Document, Position, mapping

ALLOWED = "a file in UTF-8 with lines of numbers, relative to the folder of this file"
MOST_BYTES = 4 << 20
"""100 000 times of 20 characters have half of it."""

PLACES = (("arrivals", "trace"), ("size", "cdf"))
"""Keys of a workload, each with the key in it that may name a file."""


def files(document: Document) -> dict[tuple[str, ...], str]:
    """The files that the workload of a scenario names, by the place of their names."""
    workload = mapping(mapping(document.data).get("workload"))
    found: dict[tuple[str, ...], str] = {}
    for key, inner in PLACES:
        about = mapping(workload.get(key))
        name = about.get(inner)
        if isinstance(name, str) and name not in PUBLISHED and "text" not in about:
            found["workload", key, inner] = name
    return found


def with_files(document: Document, folder: Folder) -> Document:
    """The document of a scenario with the `text` of each file; what cannot be read is a fault of it."""
    for place, name in files(document).items():
        try:
            with folder.held(document, place, name) as held:
                said = input_file.read_text(held, MOST_BYTES)
        except OSError as error:
            published = f"; or {', '.join(PUBLISHED)}" if place[-1] == "cdf" else ""
            fault = unread(place, name, error, ALLOWED + published, named=True)
            document = replace(document, faults=(*document.faults, fault))
            continue
        text = Document(said, {(): document.positions.get(place, Position(name))})
        document = document.grafted((*place[:-1], "text"), text)
    return document
