"""Distributions of sizes as files write them, converted to and from values. Pure, no I/O."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from ... import units
from ...error import ValueRefused, one_of
from ...model.workload.size import PUBLISHED, SIZE_MAX_BYTES, Cdf, Fixed, Pareto, Sizes
from ..syntax.field import Lines, Size, Text, matching
from ..syntax.file_model import FileModel
from ..syntax.scalar import quantity, text_of
from .arrival import NUMBER, decimal, rows

SIZE_ALLOWED = "a size such as 10 KiB, {pareto: {mean: 100 kB, shape: 1.2}}, or {cdf: web-search}"
POINTS_ALLOWED = "lines of 'BYTES SHARE', both rising, the last share 1"
_SHAPE_ALLOWED = "a number from more than 1 to 10, such as 1.2"
_DECIMAL = r"[0-9]{1,3}(\.[0-9]{1,9})?"


def _shape(value: object) -> Fraction:
    text = text_of(value, _SHAPE_ALLOWED)
    if not re.fullmatch(_DECIMAL, text) or not 1 < Fraction(text) <= 10:
        raise ValueRefused(f"{text!r} is not the shape of a Pareto distribution that has a mean", _SHAPE_ALLOWED)
    return Fraction(text)


ParetoShape = Annotated[
    Fraction,
    PlainValidator(_shape),
    PlainSerializer(decimal),
    WithJsonSchema({"anyOf": [{"type": "number", "exclusiveMinimum": 1, "maximum": 10}, {"type": "string"}]}),
]


class SizesFile(FileModel):
    """A Pareto distribution of sizes."""

    mean: Size
    shape: ParetoShape = Field(
        Fraction(6, 5), description="The shape of the Pareto distribution; a smaller one has a heavier tail."
    )


class ParetoFile(FileModel):
    """A Pareto distribution."""

    pareto: SizesFile


class CdfFile(FileModel):
    """A distribution by its points. `text` is what the file says, if it is none of the published ones."""

    cdf: Text = Field(description=f"{', '.join(PUBLISHED)}, or a file with lines of 'BYTES SHARE'.")
    text: Lines | None = None


def read_sizes(value: object) -> Sizes:
    if isinstance(value, Sizes):
        return value
    if isinstance(value, dict) and "pareto" in value:
        pareto = ParetoFile.model_validate(value).pareto
        return Pareto(pareto.mean, pareto.shape)
    if isinstance(value, dict) and "cdf" in value:
        file = CdfFile.model_validate(value)
        if file.text is not None:
            return Cdf(file.cdf, _points(file.cdf, file.text))
        if file.cdf not in PUBLISHED:
            what = f"{file.cdf!r} is no published distribution, and no file that was read"
            raise ValueRefused(what, f"{one_of([*PUBLISHED], file.cdf)}; a file only outside of axes", ("cdf",))
        return PUBLISHED[file.cdf]
    if isinstance(value, dict):
        raise ValueRefused("this is no distribution of sizes", SIZE_ALLOWED)
    size_bytes = quantity(units.parse_size, SIZE_ALLOWED, low=1)(value)
    if size_bytes is None or size_bytes > SIZE_MAX_BYTES:
        raise ValueRefused(f"{value!r} is too large", f"up to {units.format_size(SIZE_MAX_BYTES)}")
    return Fixed(size_bytes)


def write_sizes(sizes: Sizes | None) -> Any:
    match sizes:
        case Fixed():
            return units.format_size(sizes.size_bytes)
        case Pareto():
            pareto = SizesFile.model_construct(mean=sizes.pareto_mean_bytes, shape=sizes.shape)
            return ParetoFile.model_construct(pareto=pareto).written()
        case Cdf() if PUBLISHED.get(sizes.name) == sizes:
            return {"cdf": sizes.name}
        case Cdf():
            return {"cdf": sizes.name, "text": "\n".join(f"{size} {_share(share)}" for size, share in sizes.points)}
    return None


def _points(name: str, text: str) -> tuple[tuple[int, Fraction], ...]:
    found: list[tuple[int, Fraction]] = []
    for place, words in rows(name, text):
        if len(words) != 2 or not re.fullmatch(r"[0-9]{1,13}", words[0]) or not re.fullmatch(rf"{NUMBER}%?", words[1]):
            raise ValueRefused(f"{place}: {' '.join(words)[:40]!r} is no point", POINTS_ALLOWED, ("cdf",))
        point = (int(words[0]), Fraction(words[1].rstrip("%")) / (100 if words[1].endswith("%") else 1))
        if point[0] > SIZE_MAX_BYTES or point[1] > 1:
            raise ValueRefused(f"{place}: {' '.join(words)} is out of range", POINTS_ALLOWED, ("cdf",))
        found.append(point)
    for low, high in pairwise(found):
        if not (low[0] < high[0] and low[1] < high[1]):
            what = f"{name}: the point {low[0]} {float(low[1]):g} does not rise to {high[0]} {float(high[1]):g}"
            raise ValueRefused(what, POINTS_ALLOWED, ("cdf",))
    if not found or found[-1][1] != 1 or found[-1][0] < 1:
        raise ValueRefused(f"{name} does not end at a share of 1", POINTS_ALLOWED, ("cdf",))
    return tuple(found)


def _share(share: Fraction) -> str:
    return units.format_fraction(share).replace(" %", "%")


SizesField = Annotated[
    Sizes,
    PlainValidator(read_sizes),
    PlainSerializer(write_sizes),
    WithJsonSchema(
        {
            "anyOf": [
                matching(units.SIZE.pattern, "The size of every flow.", "10 KiB"),
                {
                    "type": "object",
                    "properties": {"pareto": SizesFile.model_json_schema()},
                    "required": ["pareto"],
                    "additionalProperties": False,
                },
                CdfFile.model_json_schema(),
            ],
            "description": f"How large flows are: {SIZE_ALLOWED}.",
        }
    ),
]
