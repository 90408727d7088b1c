"""The condition `loss` of a profile: which share is lost, and how, as text and as a value. Pure, no I/O."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from .. import units
from ..codec.frozen import dataclass
from ..error import ValueRefused
from ..model.link.impairment import GilbertElliott, Loss, PeriodicLoss, RandomLoss, loss_words, mean_loss

NONE, PERIODIC, RANDOM, BURSTS = "none", "periodic", "random", "gilbert-elliott"
WAYS = (PERIODIC, RANDOM)
"""How packets are lost, where the share says all the rest."""
SAME = 1e-3
"""Shares that differ by less than this share are the same."""
JOINED = " + "
_CHANCES = re.compile(r"([a-z_]+)=(.*?)(?=\s+[a-z_]+=|$)")
_ALLOWED = "none, 1 in X, random 0.1 %, periodic 0.1 %, 0.1 % (in any way), gilbert-elliott p=… r=…, several with +"


@dataclass(frozen=True)
class Lost:
    """What is lost in the long run: the share of each way in which packets are lost, sorted; empty if none is. A way is
    periodic, random, or a chain in words; "" where only the share is stated.
    """

    shares: tuple[tuple[str, float], ...]

    @property
    def share(self) -> float:
        return _either(share for _, share in self.shares)

    def __str__(self) -> str:
        return JOINED.join(_words(*each) for each in self.shares) or NONE

    def is_same(self, other: Lost) -> bool:
        """As far as both say how: a share alone may be lost in any way."""
        if not math.isclose(self.share, other.share, rel_tol=SAME, abs_tol=1e-12):
            return False
        (ways, shares), (others, their_shares) = (_columns(each) for each in (self, other))
        return "" in (*ways, *others) or (ways == others and all(map(_is_near, shares, their_shares)))


def asked(losses: Iterable[Loss]) -> Lost:
    """What these losses, one after the other, lose of the data."""
    return _lost(map(_one, losses))


def read(text: str) -> Lost:
    """Raises ValueRefused."""
    return _lost(each for part in text.split(JOINED.strip()) for each in _part(part.strip()))


def _part(text: str) -> list[tuple[str, float]]:
    if text == NONE:
        return []
    first, _, rest = text.partition(" ")
    if first == BURSTS:
        return [_one(_chain(text))]
    if first in WAYS:
        return [(first, _share(rest))]
    return [(PERIODIC if " in " in text else "", _share(text))]


def _share(text: str) -> float:
    if not text:
        raise ValueRefused("it does not say which share is lost", _ALLOWED)
    if " in " not in text:
        return float(units.parse_fraction(text))
    every = units.parse_one_in(text)
    if every < 1:
        raise ValueRefused(f"{text!r} is no share", _ALLOWED)
    return 1 / every


def _chain(text: str) -> GilbertElliott:
    pairs = _CHANCES.findall(text)
    found = {key: units.parse_fraction(value) for key, value in pairs}
    known = {"p", "r", "loss_bad", "loss_good"}
    is_all = _CHANCES.sub("", text).strip() == BURSTS and len(found) == len(pairs)
    if not is_all or not {"p", "r"} <= found.keys() <= known or not found["p"] or not found["r"]:
        raise ValueRefused(f"{text!r} is no chain", f"{BURSTS} p=1 % r=10 % loss_bad=100 % loss_good=0 %")
    return GilbertElliott(**found)


def _one(loss: Loss) -> tuple[str, float]:
    return {PeriodicLoss: PERIODIC, RandomLoss: RANDOM}.get(type(loss)) or loss_words(loss), mean_loss(loss)


def _lost(parts: Iterable[tuple[str, float]]) -> Lost:
    """Chains stay apart, as their shares alone do not say how they lose."""
    shares: dict[str, list[float]] = defaultdict(list)
    chains: list[tuple[str, float]] = []
    for way, share in parts:
        if share and way in ("", *WAYS):
            shares[way].append(share)
        elif share:
            chains.append((way, share))
    return Lost(tuple(sorted([*((way, _either(each)) for way, each in shares.items()), *chains])))


def _either(shares: Iterable[float]) -> float:
    every = [*shares]
    return every[0] if len(every) == 1 else 1 - math.prod(1 - each for each in every)


def _words(way: str, share: float) -> str:
    if way not in ("", *WAYS):
        return way
    every = 1 / share
    if way == PERIODIC and _is_near(every, round(every)):
        return f"1 in {every:.0f}"
    return f"{way} {100 * share:g} %".strip()


def _columns(lost: Lost) -> tuple[Sequence[str], Sequence[float]]:
    return [way for way, _ in lost.shares], [share for _, share in lost.shares]


def _is_near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-12)
