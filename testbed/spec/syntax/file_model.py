"""FileModel: the pydantic model of one mapping in a spec file, and its errors as faults. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from ...error import ValueRefused, one_of
from .document import MAPPING, Fault

Self = TypeVar("Self", bound="FileModel")
T = TypeVar("T")


class FileModel(BaseModel):
    """A mapping with known keys: any other key is a fault that lists them."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)
    refused_keys: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Keys that somebody may expect: why there is none, and what is allowed."""

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """The keys as one writes them in a file."""
        return tuple(info.alias or name for name, info in cls.model_fields.items())

    def written(self) -> dict[str, Any]:
        """The mapping in canonical text, defaults included and what is absent left out."""
        return self.model_dump(by_alias=True, exclude_none=True)

    def changed(self: Self, values: Mapping[str, object]) -> Self:
        """A copy with other values, by the keys as one writes them in a file."""
        names = {info.alias or name: name for name, info in type(self).model_fields.items()}
        return self.model_copy(update={names[key]: value for key, value in values.items()})

    @model_validator(mode="wrap")
    @classmethod
    def _known_keys(cls: type[Self], data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            details = [cls._explained(each) for each in error.errors(include_url=False)]
            raise ValidationError.from_exception_data(cls.__name__, details) from None

    @classmethod
    def _explained(cls, error: ErrorDetails) -> InitErrorDetails:
        kind, context = error["type"], dict(error.get("ctx", {}))
        if kind == "extra_forbidden" and len(error["loc"]) == 1:
            key = str(error["loc"][0])
            kind, context = "unknown_key", {"allowed": one_of(cls.known_keys(), key)}
            if key in cls.refused_keys:
                what, allowed = cls.refused_keys[key]
                context = {"allowed": allowed, "what": what}
        custom = PydanticCustomError(kind, error["msg"], context)
        return InitErrorDetails(type=custom, loc=error["loc"], input=error["input"])


def check(adapter: TypeAdapter[T], data: object) -> tuple[T | None, list[Fault]]:
    """The data as that kind of value; or None, and every fault that stands in the way."""
    try:
        return adapter.validate_python(data), []
    except ValidationError as error:
        return None, [_fault(each) for each in error.errors(include_url=False)]


def well_formed(adapter: TypeAdapter[T], items: Mapping[str, object]) -> Iterator[tuple[str, T]]:
    """Those entries of a mapping that are fine by themselves, whatever their neighbours are."""
    for name, item in items.items():
        with suppress(ValidationError):
            yield name, adapter.validate_python(item)


def _fault(error: ErrorDetails) -> Fault:
    path, kind, context = error["loc"], error["type"], error.get("ctx", {})
    refused = context.get("error")
    if isinstance(refused, ValueRefused):
        return Fault((*path, *refused.at), refused.what, refused.allowed, named=True)
    if kind == "missing":
        return Fault(path[:-1], f"the key {path[-1]!r} is missing", named=True)
    if kind == "unknown_key":
        return Fault(path, context.get("what", f"unknown key {str(path[-1])!r}"), context["allowed"])
    if kind == "literal_error":
        written, words = str(error["input"]), re.findall(r"'(.*?)'", context["expected"])
        return Fault(path, f"{written!r} is not known", one_of(words, written), named=True)
    if kind == "too_short":
        return Fault(path, "this is empty", "at least one entry", named=True)
    what, allowed = _TYPE_ERRORS.get(kind, (error["msg"], None))
    return Fault(path, what, allowed, named=True)


_TYPE_ERRORS: dict[str, tuple[str, str | None]] = {
    "dict_type": ("this is not a mapping", MAPPING),
    "model_type": ("this is not a mapping", MAPPING),
    "model_attributes_type": ("this is not a mapping", MAPPING),
    "list_type": ("this is not a list", "a list, such as [a, b]"),
    "tuple_type": ("this is not a list", "a list, such as [a, b]"),
    "string_type": ("this is not text", "text"),
}
