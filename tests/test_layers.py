"""Imports point one way, down the table, between packages and inside them; one module starts processes."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "testbed"

# From the top. A package imports from the rows below its own, never from a neighbour in its row.
LAYERS = (
    ("__init__", "__main__"),  # testbed.open is the sweep's
    ("cli",),
    ("commands",),
    ("exercise",),
    ("report", "interactive"),
    ("browser",),
    ("compare", "sweep"),
    ("analysis",),
    ("trial",),
    ("kernel",),
    ("spec", "plan"),
    ("model",),
    ("process", "journal", "units", "library"),
    ("package", "cache_folder"),
    ("error",),
    ("agent",),  # stands alone
)

# The same inside the packages in which the way of the data goes on, for their sub-packages and modules.
INSIDE = {
    "spec": (
        ("load", "json_schema"),
        ("scenario",),
        ("controller_app", "inventory", "mininet_import", "program_file", "trace_file"),
        ("topology", "workload"),
        ("syntax", "program_store"),
    ),
    "plan": (
        ("network",),
        ("wiring",),
        ("mininet",),
        ("node",),
        ("batch", "link"),
        ("script", "set_up", "started_program", "step_json"),
        ("step", "command"),
    ),
    "trial": (
        ("run",),
        ("provenance", "readiness", "result", "sample_table"),
        ("folder", "ready_kernel", "column", "software"),
        ("compiled_module",),
        ("gate",),
        ("evidence",),
        ("orders",),
        ("workload",),
        ("observe",),
        ("stored_result",),
        ("measured", "node_result"),
        ("record", "strict_folder"),
    ),
}

PACKAGES_MAX, ROOT_MODULES_MAX, MODULES_MAX, LINES_MAX = 14, 10, 25, 600

STARTS_PROCESSES = {"process", "agent"}  # the agent runs where the network is, on its own

IMPORTS_BY_NAME = {"cli", "spec", "trial", "sweep", "agent"}
"""Packages that import modules by names of their own: commands, tools, a user's data library, the agent's parts."""

STARTS = re.compile(r"\b(posix_spawn|os\.system|os\.exec\w+|create_subprocess)")

MODULES = sorted(
    path.relative_to(PACKAGE)
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0] not in ("_kernel", "_library", "_playbooks")
)


def words_of(path: Path) -> tuple[str, ...]:
    """The words of a module's dotted name below `testbed`; a package is its __init__."""
    words = path.with_suffix("").parts
    return words[:-1] if words[-1] == "__init__" and len(words) > 1 else words


NAMES = {words_of(path) for path in MODULES}

TEXTS = {path: (PACKAGE / path).read_text() for path in MODULES}
TREES = {path: ast.parse(text) for path, text in TEXTS.items()}


@cache
def imported(path: Path) -> set[str]:
    """All that a module imports, as dotted names; relative imports made absolute."""
    names: set[str] = set()
    here = ("testbed", *path.parts[:-1])
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


def modules_imported(path: Path) -> Iterator[tuple[str, ...]]:
    """Those of ours that a module imports."""
    for name in imported(path):
        words = tuple(name.split("."))
        if words[0] == "testbed":
            found = [words[1 : 1 + n] for n in range(len(words), 0, -1) if words[1 : 1 + n] in NAMES]
            yield found[0] if found else ("__init__",)


def offences(layers: tuple[tuple[str, ...], ...], prefix: tuple[str, ...]) -> Iterator[str]:
    """Imports, among what the table of a package names, that do not point down."""
    depth = {name: row for row, names in enumerate(layers) for name in names}
    at = len(prefix)
    for path in MODULES:
        words = words_of(path)
        if words[:at] != prefix or len(words) == at:
            continue
        for target in modules_imported(path):
            if target[:at] != prefix or len(target) == at or target[at] == words[at] or target == ("__init__",):
                continue
            if depth[target[at]] <= depth[words[at]]:
                yield f"{'.'.join(words)} imports {'.'.join(target)}"


def members(prefix: tuple[str, ...]) -> set[str]:
    return {name[len(prefix)] for name in NAMES if name[: len(prefix)] == prefix and len(name) > len(prefix)}


def test_every_package_has_a_row() -> None:
    assert members(()) == {name for row in LAYERS for name in row}


def test_nothing_but_the_version_is_imported_from_the_root() -> None:
    for path in MODULES:
        assert not imported(path) & {"testbed", "testbed.open"}, f"testbed/{path}"


def test_modules_are_imported_where_one_can_see_it() -> None:
    by_name = {words_of(path)[0] for path, text in TEXTS.items() if "import_module(" in text}
    assert by_name <= IMPORTS_BY_NAME


@pytest.mark.parametrize("package", INSIDE)
def test_every_part_of_a_package_has_a_row(package: str) -> None:
    assert members((package,)) == {name for row in INSIDE[package] for name in row}


def test_imports_point_down_and_neighbours_do_not_import_each_other() -> None:
    assert not list(offences(LAYERS, ()))


@pytest.mark.parametrize("package", INSIDE)
def test_imports_inside_a_package_point_down(package: str) -> None:
    assert not list(offences(INSIDE[package], (package,)))


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {words_of(path): set(modules_imported(path)) - {words_of(path), ("__init__",)} for path in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
        pytest.fail("\n".join(f"{'.'.join(b)} imports {'.'.join(a)}" for a, b in pairwise(circle)))


def test_a_newcomer_can_see_the_house_at_a_glance() -> None:
    packages = {name[0] for name in NAMES if len(name) > 1}
    modules = {path.stem for path in MODULES if len(path.parts) == 1}
    assert len(packages) <= PACKAGES_MAX
    assert len(modules) <= ROOT_MODULES_MAX, sorted(modules)


def test_no_package_has_too_many_modules() -> None:
    folders = {path.parent for path in MODULES}
    counts = {
        str(folder): sum(path.parent == folder and path.name != "__init__.py" for path in MODULES) for folder in folders
    }
    assert not {folder: count for folder, count in counts.items() if count > MODULES_MAX}


def test_no_name_repeats_the_package_that_it_is_in() -> None:
    assert not [".".join(words) for words in NAMES if len(words) > 1 and words[-1] == words[-2]]


ALONE = ("agent/",)
"""Folders whose modules stand alone inside a guest or on another computer, and may be longer than others."""


def test_no_module_is_two_nouns_in_one_room() -> None:
    lines = {str(path): len(text.splitlines()) for path, text in TEXTS.items() if not str(path).startswith(ALONE)}
    assert not {path: count for path, count in lines.items() if count > LINES_MAX}


def starts_processes(path: Path) -> bool:
    words = {name.split(".")[0] for name in imported(path)}
    return bool(words & {"subprocess", "pty", "multiprocessing"} or STARTS.search(TEXTS[path]))


def test_one_module_starts_processes() -> None:
    assert {words_of(path)[0] for path in MODULES if starts_processes(path)} <= STARTS_PROCESSES
