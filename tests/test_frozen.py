"""Frozen dataclasses of ours do what those of `dataclasses` do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any

import pytest

from testbed.codec import frozen

Decorator = Callable[..., Any]


def classes(dataclass: Decorator) -> dict[str, type]:
    """The same classes, made by one of the two."""

    @dataclass(frozen=True)
    class Empty:
        pass

    @dataclass(frozen=True)
    class One:
        value: Any

    @dataclass(frozen=True)
    class Many:
        a: int
        b: str = "b"
        c: tuple[int, ...] = ()
        d: dict[str, int] = field(default_factory=dict, compare=False)
        e: int = field(default=5, repr=False, hash=False)
        f: int = field(default=6, init=False)
        g: int = field(default=7, kw_only=True)

        @property
        def double(self) -> int:
            return 2 * self.a

    @dataclass(frozen=True)
    class More(Many):
        h: int = 8

        def __post_init__(self) -> None:
            if self.h < 0:
                raise ValueError("h is below 0")

    @dataclass(frozen=True, kw_only=True)
    class Named:
        a: int
        b: int = 2

    @dataclass(frozen=True, eq=False)
    class Same:
        a: int

    @dataclass(frozen=True)
    class Own:
        a: int

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True)
    class Hashed:
        a: int

        def __hash__(self) -> int:
            return 7

    @dataclass
    class Open:
        a: int = 1

    return {each.__name__: each for each in (Empty, One, Many, More, Named, Same, Own, Hashed, Open)}


OURS, THEIRS = classes(frozen.dataclass), classes(dataclasses.dataclass)
MADE: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "Empty": [((), {})],
    "One": [((1,), {}), (((1, "x"),), {}), (([],), {})],
    "Many": [((1,), {}), ((1, "x", (2,)), {"d": {"k": 1}, "g": 9}), ((1,), {"e": 6}), ((), {"a": 3})],
    "More": [((1,), {"h": 3}), ((1, "x", (), {}, 5, 8), {"g": 7})],
    "Named": [((), {"a": 1}), ((), {"a": 1, "b": 3})],
    "Same": [((1,), {}), ((1,), {})],
    "Own": [((1,), {}), ((2,), {})],
    "Hashed": [((1,), {}), ((2,), {})],
    "Open": [((), {}), ((2,), {})],
}
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Empty", (1,), {}),
    ("One", (), {}),
    ("Many", (1,), {"f": 1}),
    ("Many", (1, "b", (), {}, 5, 7), {}),
    ("More", (1,), {"h": -1}),
    ("Named", (1,), {}),
    ("Named", (), {"c": 1}),
]


def outcome(call: Callable[[], Any]) -> Any:
    """What it returns, or what it raises."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", MADE)
def test_values_are_the_same(name: str) -> None:
    for args, named in MADE[name]:
        one, other = OURS[name](*args, **named), THEIRS[name](*args, **named)
        assert vars(one) == vars(other)
        assert repr(one) == repr(other) or name == "Same"
        assert dataclasses.asdict(one) == dataclasses.asdict(other)
        assert isinstance(outcome(lambda one=one: hash(one)), int) == isinstance(
            outcome(lambda other=other: hash(other)), int
        )
        for changed in ("a", "value", "unknown"):
            for words in ((setattr, changed, 1), (delattr, changed)):
                made = [outcome(lambda it=it, words=words: words[0](it, *words[1:])) for it in (one, other)]
                assert made[0] == made[1]
        assert vars(copy.copy(one)) == vars(one)


@pytest.mark.parametrize("name", MADE)
def test_values_are_equal_where_theirs_are(name: str) -> None:
    ours, theirs = ([kinds[name](*args, **named) for args, named in MADE[name]] for kinds in (OURS, THEIRS))
    for n in range(len(ours)):
        for m in range(len(ours)):
            assert (ours[n] == ours[m]) == (theirs[n] == theirs[m])
            if isinstance(outcome(lambda n=n: hash(theirs[n])), int) and theirs[n] == theirs[m] and name != "Own":
                assert hash(ours[n]) == hash(ours[m])
        assert ours[n] != theirs[n] or name == "Own"


@pytest.mark.parametrize(("name", "args", "named"), REFUSED)
def test_what_is_refused_is_refused_in_the_same_words(name: str, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    ours, theirs = (outcome(lambda kinds=kinds: kinds[name](*args, **named)) for kinds in (OURS, THEIRS))
    assert ours == theirs
    assert issubclass(ours[0], Exception)


@pytest.mark.parametrize("name", MADE)
def test_fields_are_the_same(name: str) -> None:
    one, other = OURS[name], THEIRS[name]
    assert [repr(each) for each in dataclasses.fields(one)] == [repr(each) for each in dataclasses.fields(other)]
    assert one.__match_args__ == other.__match_args__  # type: ignore[attr-defined]
    assert repr(one.__dataclass_params__) == repr(other.__dataclass_params__)  # type: ignore[attr-defined]
    assert ("__hash__" in vars(one), one.__hash__ is None) == ("__hash__" in vars(other), other.__hash__ is None)


@pytest.mark.parametrize(("below", "above"), [(frozen, dataclasses), (dataclasses, frozen), (frozen, frozen)])
def test_a_class_inherits_from_one_of_the_other(below: Any, above: Any) -> None:
    @below.dataclass(frozen=True)
    class Base:
        a: int

    @above.dataclass(frozen=True)
    class Made(Base):
        b: int = 2

    value = Made(1)
    assert (value, repr(value)[-13:]) == (Made(a=1, b=2), "Made(a=1, b=2)"[-13:])
    assert dataclasses.replace(value, b=3) == Made(1, 3) != value
    assert value != Base(1)
    for name in ("a", "b", "c"):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 1)
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        above.dataclass(type("Open", (Base,), {}))


def test_a_value_of_ours_is_pickled() -> None:
    from testbed.model.run_setting import Kernel

    kernel = Kernel("lab")
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_what_nobody_makes_is_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    before = frozen._compiled
    monkeypatch.setattr(frozen, "_compiled", lambda cls: (compiled.append(cls), before(cls))[1])
    made = classes(frozen.dataclass)
    assert compiled == []
    assert made["One"](1) == made["One"](1)
    assert compiled == [made["One"]]
