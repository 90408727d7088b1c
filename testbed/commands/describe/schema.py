"""`testbed schema`: JSON Schema of the file formats, for editors."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from ...spec import json_schema as schemas


class Kind(StrEnum):
    topology = "topology"
    scenario = "scenario"


def schema(kind: Annotated[Kind, typer.Argument(help="Which kind of file.")]) -> None:
    """Print the JSON Schema of topology or scenario files."""
    print(json.dumps(schemas.schema(kind.value), indent=2))
