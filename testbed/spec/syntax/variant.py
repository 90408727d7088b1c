"""Chooses a file model from a table by the value of one key: the types of node, of workload and so on. Pure, no I/O.

The table may grow after the file models that use it are made, so that code outside can add a type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from .file_model import FileModel
from .scalar import tag_of


@dataclass(frozen=True, eq=False)
class Variant:
    """An annotation for a pydantic field: the word under `key` in a file selects the file model from `table`."""

    key: str
    table: Mapping[str, type[FileModel]]

    def read(self, value: Any) -> FileModel:
        """Raises ValueRefused for a word that the table does not have, pydantic's ValidationError for the rest."""
        if isinstance(value, FileModel):
            return value
        return self.table[tag_of(value, self.key, self.table)].model_validate(value)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        file_models = {word: file_model.__pydantic_core_schema__ for word, file_model in self.table.items()}
        return handler(core_schema.tagged_union_schema(file_models, self.key))
