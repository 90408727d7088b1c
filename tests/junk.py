"""Junk: data that no spec file has, and what loading a file with it says."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from testbed.error import Problem, SpecError
from testbed.spec.load import load_scenario

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["1 ms", "none", "a", "flow"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("forward"), inner, max_size=3)
    ),
    max_leaves=5,
)


def paths(data: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [here, *(path for key, value in items for path in paths(value, (*here, key)))]


def problems_of(data: Any, *, quick: bool = False) -> tuple[Problem, ...]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "junk.yaml"
        file.write_text(yaml.safe_dump(data, sort_keys=False, allow_unicode=True))
        try:
            load_scenario(file, quick=quick)
        except SpecError as error:
            return error.problems
    return ()
