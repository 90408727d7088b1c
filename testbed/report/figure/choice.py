"""Which trials are meant by words such as "rtt=91 ms,flows=10". Pure, no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...error import UserError, ValueRefused
from ...model.scenario import trial_ids
from ...spec.scenario.axis import canonical
from ...trial.result import TrialResult
from ...units import parse_bdp, parse_bits, parse_fraction, parse_packets, parse_rate, parse_size, parse_time

FEW = 4
SEED = "seed"
_QUANTITIES = (parse_rate, parse_time, parse_size, parse_packets, parse_bits, parse_bdp, parse_fraction)

Pair = tuple[str, str]
"""An axis and one of its values."""


def chosen(results: Sequence[TrialResult], words: str) -> list[TrialResult]:
    """The trial of this id; or those that have all of these values, each as NAME=VALUE or alone, as tables, files or
    ids write them. Raises UserError for words that no trial has, or that may mean several axes.
    """
    axes = _axes(results)
    found = [each for each in results if each.id == words]
    if not found:
        pairs = [_pair(piece, axes, words) for piece in _pieces(words.split(","), axes)]
        found = [each for each in results if all(_params(each).get(key) == value for key, value in pairs)]
    if not found:
        such = shortened([f"{key}={value}" for key, values in axes.items() if key in dict(pairs) for value in values])
        raise UserError(f"no trial is {words!r}; allowed: values that occur together, of {such}")
    return found


def named(name: str, keys: Iterable[str]) -> list[str]:
    """The axis of this name, or else those that end in it."""
    name, known = canonical(name.strip()), list(keys)
    return [key for key in known if key == name] or [key for key in known if key.endswith(f".{name}")]


def shortened(words: Sequence[str]) -> str:
    more = f", … ({len(words)} in all)" if len(words) > FEW else ""
    return ", ".join(words[:FEW]) + more


def _params(each: TrialResult) -> dict[str, str]:
    return {**each.params, SEED: str(each.seed)}


def _axes(results: Sequence[TrialResult]) -> dict[str, list[str]]:
    """The values of each axis, and the seeds."""
    values: dict[str, dict[str, None]] = {}
    for each in results:
        for key, value in _params(each).items():
            values.setdefault(key, {})[value] = None
    return {key: list(those) for key, those in values.items()}


def _pieces(parts: Sequence[str], axes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The parts between commas, put together again where a value has commas: each piece is the longest known one."""
    if not parts:
        return ()
    most = 1 + max(value.count(",") for values in axes.values() for value in values)
    pieces = [",".join(parts[: 1 + more]).strip() for more in range(min(most, len(parts)))]
    length = next((n for n in range(len(pieces), 1, -1) if _pairs(pieces[n - 1], axes)), 1)
    return (pieces[length - 1], *_pieces(parts[length:], axes))


def _pair(piece: str, axes: Mapping[str, Sequence[str]], words: str) -> Pair:
    """What a piece means. Raises UserError for nothing, and for several things."""
    keys, found = _keys(piece, axes), _pairs(piece, axes)
    if len(found) == 1 and len(keys) < 2:
        return found[0]
    those = found or [(key, value) for key in keys for value in axes[key]]
    if those:
        several = "axes" if len({*keys, *(key for key, _ in those)}) > 1 else "values"
        what = f"{piece!r} may mean several {several}" if found or len(keys) > 1 else f"no trial is {words!r}"
        raise UserError(f"{what}; allowed: {shortened([f'{key}={value}' for key, value in those])}")
    such = ", ".join(f"{key}={values[0]}" for key, values in axes.items() if key != SEED)
    raise UserError(f"no trial is {words!r}; allowed: words of trials, such as {such or f'{SEED}={axes[SEED][0]}'}")


def _keys(piece: str, axes: Mapping[str, Sequence[str]]) -> list[str]:
    name, equals, _ = piece.partition("=")
    return named(name, axes) if equals else []


def _pairs(piece: str, axes: Mapping[str, Sequence[str]]) -> list[Pair]:
    """All that a piece may mean; a seed has its name."""
    keys = _keys(piece, axes)
    text = piece.partition("=")[2] if keys else piece
    return [(key, value) for key in keys or axes if keys or key != SEED for value in _same(text, axes[key])]


def _same(text: str, values: Sequence[str]) -> list[str]:
    """Those values that the text spells: the nearest spelling counts. A mapping of one thing may be a value that names
    nothing else, as codel is {type: codel}, and one with more.
    """
    found = _spelled(text, values)
    if found or not text.strip().startswith("{"):
        return found
    members = _members(text)
    found = [value for value in values if members <= _members(value)]
    plain = _spelled(text.strip().strip("{}").partition(":")[2], values) if found and len(members) == 1 else []
    return [value for value in found if members == _members(value)] or list(dict.fromkeys([*plain, *found]))


def _spelled(text: str, values: Sequence[str]) -> list[str]:
    spelled = ([value for value in values if form(value) == form(text)] for form in _FORMS)
    return next(filter(None, spelled), [])


def _in_id(text: str) -> str:
    (id,) = trial_ids([(("", text),)])
    return id.casefold()


def _quantity(text: str) -> object:
    """A number of a unit, however it is written; else the text."""
    for parse in _QUANTITIES:
        try:
            return parse, parse(text)
        except ValueRefused:
            continue
    return text


_FORMS: tuple[Callable[[str], object], ...] = (str.strip, _in_id, _quantity)


def _members(text: str) -> set[str]:
    """Of a mapping, which files may write without what is usual, in any order: {most: 1 ms, reorder: true}."""
    return {_in_id(part.replace(":", " ")) for part in text.strip().strip("{}").split(",")}
