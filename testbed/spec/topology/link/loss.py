"""Loss as a topology file writes it. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .... import units
from ....codec.fault import Fault
from ....codec.keyed import Keyed, Kind, key, keyed
from ....codec.kind import matching, record, sound
from ....codec.scalar import text_of
from ....error import ValueRefused, one_of
from ....model.link.impairment import EVERY_MAX, EVERY_MIN, GilbertElliott, Loss, PeriodicLoss, RandomLoss
from .direction import of_data


@keyed
class Chain(Keyed):
    """Loss in bursts."""

    chain: GilbertElliott = key("gilbert-elliott", record(GilbertElliott))

    def faults(self) -> Iterator[Fault]:
        yield from (fault.under("gilbert-elliott") for fault in self.chain.faults())


LOSSES: dict[str, type[Keyed]] = {"every": PeriodicLoss, "random": RandomLoss, "gilbert-elliott": Chain}
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
        found: Any = sound(form, value)
        return found.chain if isinstance(found, Chain) else found
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
        return loss.written() if loss.phase else units.format_one_in(loss.every)
    return (Chain(loss) if isinstance(loss, GilbertElliott) else loss).written()


_SCALAR = matching(units.ONE_IN_PATTERN, "1 in X for the direction of the data, or none.", "1 in 10000", none=True)
_ABOUT = f"Packet loss: {LOSS_ALLOWED}."
LOSS = Kind(
    read_loss,
    write_loss,
    {"anyOf": [_SCALAR, *({"$ref": form} for form in LOSSES.values())], "description": _ABOUT},
    none="none",
)
LINK_LOSS = of_data(LOSS, _ABOUT, "LinkLoss")
