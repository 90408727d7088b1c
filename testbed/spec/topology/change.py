"""A topology with other values of one link, as people change it by hand. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence

from ...codec.fault import Path
from ...error import Problem, SpecError, did_you_mean, one_of
from ...model.link.impairment import IMPAIRMENTS
from ...model.topology import Topology
from ..syntax.document import Document, Position, parse
from .file import TopologyFile
from .rules import topology_of

KEYS = tuple(key for row in IMPAIRMENTS.values() for key in row.keys if key != "down")
NONE = "none"
STATES = ("down", "up")
"""The words that stand alone: the cable is pulled out, and put in again."""
ALLOWED = f"KEY=VALUE such as rtt='200 ms', with one of {', '.join(KEYS)}"


def changed(topology: Topology, link: str, words: Sequence[str]) -> Topology:
    """Words are KEY=VALUE in YAML; the value `none` takes an impairment away. A
    link that is changed follows no schedule any more. Raises SpecError, which names the words that make no sense.
    """
    written = TopologyFile.of(topology).written()
    said = dict(written["links"][link])
    said.pop("schedule", None)
    positions: dict[Path, Position] = {}
    for word in words:
        position = Position(word)
        key, value = _read(word, position)
        for other in next(row.keys for row in IMPAIRMENTS.values() if key in row.keys):
            said.pop(other, None)
        if value.data != NONE:
            said[key] = value.data
            positions |= {("links", link, key, *path): place for path, place in value.positions.items()}
    data = {**written, "links": {**written["links"], link: said}}
    where = Position(f"the link {link}")
    return topology_of(Document(data, {**dict.fromkeys([(), ("links",), ("links", link)], where), **positions}))


def refuse_other(words: Sequence[str]) -> None:
    """Raises SpecError for words that say nothing about any link."""
    for word in words:
        _read(word, Position(word))


def _read(word: str, position: Position) -> tuple[str, Document]:
    key, equals, text = word.partition("=")
    if not equals:
        meant = did_you_mean(word, STATES)
        raise SpecError(
            [Problem(word, None, f"this says nothing about a link{meant}", f"{', '.join(STATES)}, or {ALLOWED}")]
        )
    if key not in KEYS:
        raise SpecError([Problem(word, None, f"a link has no {key!r}", one_of(KEYS, key))])
    return key, parse(text, position)
