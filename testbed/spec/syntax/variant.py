"""A shape out of a table, by the word under one of its keys: the kinds of node, of workload and so on. Pure, no I/O.

The table may grow after the shapes that use it are made, so that a new kind can come from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from .file_model import Shape
from .scalar import tag_of


@dataclass(frozen=True, eq=False)
class Variant:
    """An annotation for a pydantic field: the value is one of the shapes of `table`, which has them by the word that a
    file gives under `key`.
    """

    key: str
    table: Mapping[str, type[Shape]]

    def read(self, value: Any) -> Shape:
        """Raises ValueRefused for a word that the table does not have, pydantic's ValidationError for the rest."""
        if isinstance(value, Shape):
            return value
        return self.table[tag_of(value, self.key, self.table)].model_validate(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        shapes = {word: shape.__pydantic_core_schema__ for word, shape in self.table.items()}
        return handler(core_schema.tagged_union_schema(shapes, self.key))
