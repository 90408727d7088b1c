"""`testbed schema`: JSON Schema of the file formats, for editors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any

import typer

from ...compare import published
from ...spec import json_schema as schemas

EXAMPLES = (
    ("Let an editor check and complete topology files", "testbed schema topology > topology.schema.json"),
    ("The same for scenario files", "testbed schema scenario > scenario.schema.json"),
)


class Kind(StrEnum):
    topology = "topology"
    scenario = "scenario"
    profile = "profile"


def schema(kind: Annotated[Kind, typer.Argument(help="The kind of file.")]) -> None:
    """Editors with support for JSON Schema, such as VS Code, use it to check and complete YAML files."""
    found = SCHEMAS[kind]()
    print(json.dumps(found, indent=1))


SCHEMAS: Mapping[Kind, Callable[[], dict[str, Any]]] = {
    Kind.topology: lambda: schemas.schema("topology"),
    Kind.scenario: lambda: schemas.schema("scenario"),
    Kind.profile: published.schema,
}
