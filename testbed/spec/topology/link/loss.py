"""Loss as a topology file writes it. Pure, no I/O."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from .... import units
from ....error import ValueRefused, one_of
from ....model.link.impairment import EVERY_MAX, EVERY_MIN, GilbertElliott, Loss, PeriodicLoss, RandomLoss
from ...syntax.field import PerDirection, is_directional, matching, number
from ...syntax.file_model import FileModel
from ...syntax.scalar import text_of, whole
from .extent import counted_share


def _fraction(value: object) -> Fraction:
    return units.parse_fraction(text_of(value, "a fraction such as 0.1 % or 0.001"))


def _phase(value: object) -> Any:
    return value if value == "seeded" else whole(0, EVERY_MAX - 1)(value)


_FRACTION_SCHEMA = {
    "anyOf": [
        matching(units.FRACTION_PATTERN, "A share of the whole.", "0.1 %", "0.001"),
        {"type": "number", "minimum": 0, "maximum": 1},
    ]
}
FractionField = Annotated[
    Fraction,
    PlainValidator(_fraction),
    PlainSerializer(units.format_fraction),
    WithJsonSchema(_FRACTION_SCHEMA),
]
Every = Annotated[
    int,
    PlainValidator(whole(EVERY_MIN, EVERY_MAX)),
    WithJsonSchema(number(EVERY_MIN, EVERY_MAX, "One packet out of this number is dropped.")),
]
Phase = Annotated[
    Any,
    PlainValidator(_phase),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "seeded"},
                number(0, EVERY_MAX - 1, "How many packets earlier the first drop comes."),
            ],
            "description": "Where the count begins: less than `every`, or seeded (drawn from the trial's seed).",
        }
    ),
]


class EveryFile(FileModel):
    """Periodic loss: one data packet in `every`."""

    every: Every
    phase: Phase = 0

    def value(self) -> PeriodicLoss:
        if self.phase != "seeded" and self.phase >= self.every:
            raise ValueRefused(f"a phase of {self.phase} is too large", f"0 to {self.every - 1}, seeded", ("phase",))
        return PeriodicLoss(self.every, self.phase)


class RandomFile(FileModel):
    """Independent random loss."""

    random: FractionField

    def value(self) -> RandomLoss:
        if not 0 < self.random < 1:
            raise ValueRefused("nothing or everything would be lost", "more than 0 % and less than 100 %", ("random",))
        return RandomLoss(counted_share(self.random, ("random",)))


class ChainFile(FileModel):
    """The parameters of a Gilbert-Elliott chain."""

    p: FractionField
    r: FractionField
    loss_bad: FractionField = Fraction(1)
    loss_good: FractionField = Fraction(0)


class GilbertElliottFile(FileModel):
    """Loss in bursts."""

    chain: ChainFile = Field(alias="gilbert-elliott")

    def value(self) -> GilbertElliott:
        chain = self.chain
        for key in ("p", "r"):
            if not getattr(chain, key):
                raise ValueRefused(
                    f"{key} is 0: the state would never change", "more than 0 %", ("gilbert-elliott", key)
                )
        for key in ("p", "r", "loss_bad", "loss_good"):
            counted_share(getattr(chain, key), ("gilbert-elliott", key))
        return GilbertElliott(chain.p, chain.r, chain.loss_bad, chain.loss_good)


LOSSES: dict[str, type[EveryFile] | type[RandomFile] | type[GilbertElliottFile]] = {
    "every": EveryFile,
    "random": RandomFile,
    "gilbert-elliott": GilbertElliottFile,
}
"""The forms of loss that are mappings, by the key that tells them apart."""

LOSS_ALLOWED = "none, 1 in X, {every: X, phase: …}, {random: 0.1 %}, {gilbert-elliott: {p: …, r: …}}"


def read_loss(value: object) -> Loss | None:
    if isinstance(value, dict):
        form = next((LOSSES[str(key)] for key in value if key in LOSSES), None)
        if form is None:
            raise ValueRefused(
                f"there is no kind of loss {', '.join(value) or '{}'}",
                one_of([*LOSSES], next(iter(value), "")),
            )
        return form.model_validate(value).value()
    text = text_of(value, LOSS_ALLOWED)
    if text == "none":
        return None
    try:
        every = units.parse_one_in(text)
    except ValueRefused:
        raise ValueRefused(f"{text!r} does not say which packets are lost", LOSS_ALLOWED) from None
    if not EVERY_MIN <= every <= EVERY_MAX:
        what = "would drop every packet" if every == 1 else "is out of range"
        raise ValueRefused(f"{text!r} {what}", f"1 in {EVERY_MIN} to 1 in {EVERY_MAX}")
    return PeriodicLoss(every)


def write_loss(loss: Loss | None) -> Any:
    if loss is None:
        return "none"
    if isinstance(loss, PeriodicLoss):
        return {"every": loss.every, "phase": loss.phase} if loss.phase else units.format_one_in(loss.every)
    if isinstance(loss, RandomLoss):
        return {"random": units.format_fraction(loss.probability)}
    chain = {key: units.format_fraction(getattr(loss, key)) for key in ("p", "r", "loss_bad", "loss_good")}
    return {"gilbert-elliott": chain}


_SCALAR_LOSS = matching(units.ONE_IN_PATTERN, "1 in X for the direction of the data, or none.", "1 in 10000", none=True)


def loss_schema(*scalar: dict[str, Any]) -> dict[str, Any]:
    """JSON Schema of every form of loss."""
    forms: list[dict[str, Any]] = [form.model_json_schema(ref_template="{model}") for form in LOSSES.values()]
    for form in forms:
        for name, definition in form.pop("$defs", {}).items():
            form["properties"] = {
                key: definition if value.get("$ref") == name else value for key, value in form["properties"].items()
            }
    return {"anyOf": [_SCALAR_LOSS, *forms, *scalar], "description": f"Packet loss: {LOSS_ALLOWED}."}


def read_link_loss(value: object) -> Any:
    """A link's loss: one, for the direction of the data, or a PerDirection of losses."""
    return PerDirection[LossField].model_validate(value) if is_directional(value) else read_loss(value)


def write_link_loss(value: Any) -> Any:
    if isinstance(value, PerDirection):
        return {"forward": write_loss(value.forward), "backward": write_loss(value.backward)}
    return write_loss(value)


LossField = Annotated[Any, PlainValidator(read_loss), PlainSerializer(write_loss), WithJsonSchema(loss_schema())]
LinkLoss = Annotated[
    Any,
    PlainValidator(read_link_loss),
    PlainSerializer(write_link_loss),
    WithJsonSchema(
        loss_schema(
            {
                "type": "object",
                "properties": {"forward": loss_schema(), "backward": loss_schema()},
                "additionalProperties": False,
                "minProperties": 1,
            }
        )
    ),
]
