"""Values that say their keys: read, written and described from one place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

import jsonschema
import pytest

from testbed.codec.fault import Fault
from testbed.codec.keyed import Keyed, check, inline, key, keyed, keys, named, read
from testbed.codec.kind import FLAG, NAME, RATE, SPAN, TEXT, listed, mapped, record, variant, whole, word
from testbed.codec.schema import of_keys
from testbed.codec.schema import whole as whole_schema
from testbed.spec.json_schema import schema

SCHEMAS = {kind: schema(kind) for kind in ("topology", "scenario")}
SCENARIO_BYTES = 200_000
"""The printed schema; with pydantic it had 1.6 MB."""


@keyed
class Inner(Keyed):
    """A part.

    What only developers read.
    """

    size: int = key("how-many", whole(1, 9, "How many."), default=3)


@named
class Outer(Keyed):
    """A whole."""

    TAG = "type"
    type = "outer"

    name: str = key("name", NAME)
    inner: Inner = inline(Inner)
    rate: int | None = key("rate", RATE, "How fast.", default=None)
    pause: int | None = key("pause", SPAN, default=10**9)
    parts: tuple[Inner, ...] = key("parts", listed(record(Inner)), default=())
    links: tuple[tuple[str, str], ...] = key("links", mapped(NAME, TEXT, least=1), default=())
    colour: Literal["red", "green"] = key("colour", word("red", "green"), default="red")
    is_on: bool = key("on", FLAG, default=False)

    def faults(self) -> Iterator[Fault]:
        if self.inner.size == 7:
            yield Fault(("how-many",), "seven", "any other")


def faults(data: Any) -> list[tuple[tuple[str | int, ...], str]]:
    found, wrong = check(Outer, data)
    assert (found is None) == bool(wrong)
    return [(each.path, each.what) for each in wrong]


def test_what_is_written_is_read_again_in_the_order_of_the_keys() -> None:
    data = {"type": "outer", "name": "a", "how-many": 5, "rate": "10 Mbit/s", "pause": "2 s", "links": {"b": "c"}}
    value = read(Outer, data)
    assert (value.inner, value.rate, value.pause, value.links) == (Inner(5), 10**7, 2 * 10**9, (("b", "c"),))
    assert value.written() == {**data, "parts": [], "colour": "red", "on": False}
    assert list(value.written()) == list(Outer.known_keys())
    assert read(Outer, value.written()) == value
    assert read(Outer, value) is value


def test_all_faults_are_told_at_once_with_their_places() -> None:
    data = {
        **{"how-many": "0", "parts": [{}, {"how-many": "x"}], "links": {"B": "c", "d": []}},
        **{"colour": "blue", "size": 1, "on": None},
    }
    assert faults(data) == [
        ((), "the key 'name' is missing"),
        (("how-many",), "0 is out of range"),
        (("parts", 1, "how-many"), "'x' is not a whole number"),
        (("links", "B"), "'B' is not a name"),
        (("links", "d"), "this is a list"),
        (("colour",), "'blue' is not known"),
        (("on",), "this is not text"),
        (("size",), "unknown key 'size'"),
    ]


def test_what_is_no_mapping_or_empty_is_refused() -> None:
    assert faults("x") == [((), "this is not a mapping")]
    assert faults({"name": "a", "links": {}}) == [(("links",), "this is empty")]
    assert faults({"name": "a", "parts": "b"}) == [(("parts",), "this is not a list")]


def test_null_is_absent_only_for_what_can_be_absent() -> None:
    assert read(Outer, {"name": "a", "rate": "none"}).rate is None
    assert faults({"name": "a", "rate": None}) == [(("rate",), "this is not text")]


def test_a_copy_has_other_values_by_their_names_in_files() -> None:
    value = Outer(name="a").changed({"how-many": 7, "rate": 8})
    assert (value.inner, value.rate) == (Inner(7), 8)
    assert [each.what for each in value.faults()] == ["seven"]


def test_a_word_selects_the_class() -> None:
    kind = variant("type", {"outer": Outer})
    assert kind.read({"type": "outer", "name": "a"}) == Outer(name="a")
    allowed = "outer (did you mean 'outer'?)"
    assert kind.checked({"type": "other"})[1] == [Fault(("type",), "'other' is not known", allowed, named=True)]


def test_editors_are_told_names_helps_and_defaults_as_files_write_them() -> None:
    found = whole_schema(of_keys(Outer))
    assert tuple(found["properties"]) == Outer.known_keys() == (*keys(Outer), "type")
    assert found["required"] == ["name", "type"]
    assert found["properties"]["pause"] == {"$ref": "#/$defs/Span", "default": "1 s"}
    assert found["properties"]["rate"] == {"$ref": "#/$defs/Rate", "description": "How fast."}
    assert found["$defs"]["Inner"]["description"] == "A part."


def resolved(part: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        rest = {name: value for name, value in part.items() if name != "$ref"}
        part = {**root["$defs"][part["$ref"].rpartition("/")[2]], **rest}
    return part


def properties(part: Any, root: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All keys of a schema, with what it says of each."""
    if isinstance(part, list):
        for each in part:
            yield from properties(each, root)
    elif isinstance(part, dict):
        for name, value in part.get("properties", {}).items():
            if isinstance(value, dict) and "minProperties" not in value:
                yield name, resolved(value, root)
        for value in part.values():
            yield from properties(value, root)


def says(part: dict[str, Any], root: dict[str, Any]) -> bool:
    whole = resolved(part, root)
    if whole.keys() & {"description", "enum", "const"}:
        return True
    return any(says(each, root) for choice in ("anyOf", "oneOf") for each in whole.get(choice, ()))


@pytest.mark.parametrize("kind", SCHEMAS)
def test_an_editor_has_something_to_say_of_every_key(kind: str) -> None:
    root = SCHEMAS[kind]
    found = list(properties(root, root))
    assert len(found) > 150
    assert not sorted({name for name, value in found if not says(value, root)})


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_default_is_what_a_file_could_say(kind: str) -> None:
    root = SCHEMAS[kind]
    found = [value for _, value in properties(root, root) if "default" in value]
    assert len(found) > 40
    for value in found:
        jsonschema.Draft202012Validator({**value, "$defs": root["$defs"]}).validate(value["default"])


def test_the_schema_of_scenarios_is_small_and_its_definitions_have_names() -> None:
    assert len(json.dumps(SCHEMAS["scenario"], indent=1)) < SCENARIO_BYTES
    for root in SCHEMAS.values():
        assert not [name for name in root["$defs"] if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name) or len(name) > 32]


def test_keys_of_a_class_are_told_in_their_order() -> None:
    assert list(keys(Outer)) == ["name", "how-many", "rate", "pause", "parts", "links", "colour", "on"]
    assert Fraction(keys(Outer)["how-many"].default) == 3
