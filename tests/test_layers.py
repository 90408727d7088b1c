"""Imports point one way, down the table, between packages and inside them; one module starts processes."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from testbed import api

ROOT = Path(__file__).parents[1]

# From the top. A package imports from the rows below its own, never from a neighbour in its row.
LAYERS = (
    ("__init__", "__main__"),  # testbed.open is the sweep's
    ("cli", "api"),
    ("commands",),
    ("exercise", "calibrate"),
    ("report", "interactive"),
    ("browser",),
    ("compare", "sweep"),
    ("analysis",),
    ("trial",),
    ("kernel",),
    ("spec", "plan"),
    ("model",),
    ("codec", "native_program"),
    ("process", "journal", "units", "library"),
    ("package", "cache_folder"),
    ("error",),
    ("agent",),  # stands alone
)

# The package beside it, a user of `testbed.api`.
LAYERS_BESIDE = (
    ("__init__",),
    ("command",),
    ("paper", "page", "kept"),
    ("row", "look", "again"),
    ("check", "measured"),
)

# The same inside the packages in which the way of the data goes on, for their sub-packages and modules.
INSIDE = {
    "spec": (
        ("load", "json_schema"),
        ("scenario",),
        ("congestion", "controller_app", "inventory", "mininet_import", "number_file", "program_file", "trace_file"),
        ("topology",),
        ("syntax", "program_store", "bpf_object"),
    ),
    "plan": (
        ("network",),
        ("mininet",),
        ("node",),
        ("batch", "link"),
        ("linux",),
        ("command",),
        ("step",),
    ),
    "calibrate": (
        ("run", "candidate"),
        ("page",),
        ("figure",),
        ("outcome",),
        ("rebuild",),
        ("reader", "written", "verdict"),
        ("link",),
        ("fit",),
        ("measurement",),
    ),
    "trial": (
        ("run",),
        ("provenance", "readiness", "summary", "sample_table"),
        ("ack_table",),
        ("folder", "ready_kernel", "column", "sample_row", "software"),
        ("compiled_module", "known_file"),
        ("gate", "reader"),
        ("orders",),
        ("subject",),
        ("start",),
        ("workload",),
        ("evidence",),
        ("observe",),
        ("measured", "result"),
        ("record", "strict_folder"),
        ("law",),
        ("trusted_path",),
    ),
}

PACKAGES_MAX, ROOT_MODULES_MAX, MODULES_MAX, LINES_MAX = 16, 12, 25, 600

STARTS_PROCESSES = {"process", "agent"}  # the agent runs where the network is, on its own

IMPORTS_BY_NAME = {"cli", "spec", "trial", "sweep", "agent"}
"""Packages that import modules by names of their own: commands, tools, a user's data library, the agent's parts."""

STARTS = re.compile(r"\b(posix_spawn|os\.system|os\.exec\w+|create_subprocess)")


@dataclass(frozen=True)
class Package:
    """A package of the checkout; its modules as paths and as words below it."""

    name: str

    @cached_property
    def modules(self) -> list[Path]:
        folder = ROOT / self.name
        every = (path.relative_to(folder) for path in folder.rglob("*.py"))
        return sorted(path for path in every if path.parts[0] not in ("_kernel", "_library", "_playbooks"))

    @cached_property
    def names(self) -> set[tuple[str, ...]]:
        return {words_of(path) for path in self.modules}

    @cached_property
    def texts(self) -> dict[Path, str]:
        return {path: (ROOT / self.name / path).read_text() for path in self.modules}

    @cached_property
    def imports(self) -> dict[Path, set[str]]:
        """All that a module imports, as dotted names; relative imports made absolute."""
        return {path: set(self._imported(path)) for path in self.modules}

    def _imported(self, path: Path) -> Iterator[str]:
        here = (self.name, *path.parts[:-1])
        for node in ast.walk(ast.parse(self.texts[path])):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = here[: len(here) - node.level + 1] if node.level else ()
                module = ".".join((*base, *filter(None, [node.module])))
                yield from (f"{module}.{alias.name}" for alias in node.names)

    def own_imports(self, path: Path) -> Iterator[tuple[str, ...]]:
        """Its own modules that a module imports."""
        for name in self.imports[path]:
            words = tuple(name.split("."))
            if words[0] == self.name:
                found = [words[1 : 1 + n] for n in range(len(words), 0, -1) if words[1 : 1 + n] in self.names]
                yield found[0] if found else ("__init__",)

    def offences(self, layers: tuple[tuple[str, ...], ...], prefix: tuple[str, ...] = ()) -> Iterator[str]:
        """Imports, among what the table of a package names, that do not point down."""
        depth = {name: row for row, names in enumerate(layers) for name in names}
        at = len(prefix)
        for path in self.modules:
            words = words_of(path)
            if words[:at] != prefix or len(words) == at:
                continue
            for target in self.own_imports(path):
                if target[:at] != prefix or len(target) == at or target[at] == words[at] or target == ("__init__",):
                    continue
                if depth[target[at]] <= depth[words[at]]:
                    yield f"{'.'.join(words)} imports {'.'.join(target)}"

    def members(self, *prefix: str) -> set[str]:
        at = len(prefix)
        return {name[at] for name in self.names if name[:at] == prefix and len(name) > at}


def words_of(path: Path) -> tuple[str, ...]:
    """The words of a module's dotted name below its package; a package is its __init__."""
    words = path.with_suffix("").parts
    return words[:-1] if words[-1] == "__init__" and len(words) > 1 else words


TESTBED, BESIDE = HOUSE = Package("testbed"), Package("testbed_reproductions")


def test_every_package_has_a_row() -> None:
    assert TESTBED.members() == {name for row in LAYERS for name in row}
    assert BESIDE.members() == {name for row in LAYERS_BESIDE for name in row}


def test_nothing_but_the_version_is_imported_from_the_root() -> None:
    for path, names in TESTBED.imports.items():
        assert not names & {"testbed", "testbed.open"}, f"testbed/{path}"


def test_what_lies_beside_uses_only_what_is_exported() -> None:
    own = {name for names in BESIDE.imports.values() for name in names if name.split(".")[0] == TESTBED.name}
    assert own == {f"testbed.api.{name}" for name in api.__all__}
    assert not [path for path, names in TESTBED.imports.items() if any(BESIDE.name in name for name in names)]
    assert [path for path, text in TESTBED.texts.items() if f"{BESIDE.name}." in text] == [Path("cli.py")]


def test_modules_are_imported_where_one_can_see_it() -> None:
    by_name = {words_of(path)[0] for path, text in TESTBED.texts.items() if "import_module(" in text}
    assert by_name <= IMPORTS_BY_NAME
    assert not [path for path, text in BESIDE.texts.items() if "import_module(" in text]


@pytest.mark.parametrize("package", INSIDE)
def test_every_part_of_a_package_has_a_row(package: str) -> None:
    assert TESTBED.members(package) == {name for row in INSIDE[package] for name in row}


def test_imports_point_down_and_neighbours_do_not_import_each_other() -> None:
    assert not list(TESTBED.offences(LAYERS))
    assert not list(BESIDE.offences(LAYERS_BESIDE))


@pytest.mark.parametrize("package", INSIDE)
def test_imports_inside_a_package_point_down(package: str) -> None:
    assert not list(TESTBED.offences(INSIDE[package], (package,)))


@pytest.mark.parametrize("package", HOUSE)
def test_no_modules_import_each_other_in_a_circle(package: Package) -> None:
    own = {words_of(path): set(package.own_imports(path)) for path in package.modules}
    graph = {words: imports - {words, ("__init__",)} for words, imports in own.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
        pytest.fail("\n".join(f"{'.'.join(b)} imports {'.'.join(a)}" for a, b in pairwise(circle)))


def test_a_newcomer_can_see_the_house_at_a_glance() -> None:
    packages = {name[0] for name in TESTBED.names if len(name) > 1}
    modules = {path.stem for path in TESTBED.modules if len(path.parts) == 1}
    assert len(packages) <= PACKAGES_MAX
    assert len(modules) <= ROOT_MODULES_MAX, sorted(modules)


@pytest.mark.parametrize("package", HOUSE)
def test_no_package_has_too_many_modules(package: Package) -> None:
    counts = Counter(path.parent for path in package.modules if path.name != "__init__.py")
    assert not {str(folder): count for folder, count in counts.items() if count > MODULES_MAX}


def test_no_name_repeats_the_package_that_it_is_in() -> None:
    names = (words for package in HOUSE for words in package.names)
    assert not [".".join(words) for words in names if len(words) > 1 and words[-1] == words[-2]]


ALONE = ("agent/",)
"""Folders whose modules stand alone inside a guest or on another computer, and may be longer than others."""


def test_no_module_is_two_nouns_in_one_room() -> None:
    texts = ((str(path), text) for package in HOUSE for path, text in package.texts.items())
    lines = {path: len(text.splitlines()) for path, text in texts if not path.startswith(ALONE)}
    assert not {path: count for path, count in lines.items() if count > LINES_MAX}


def starting(package: Package) -> Iterator[str]:
    """The first word of each module that starts processes."""
    for path, names in package.imports.items():
        words = {name.split(".")[0] for name in names}
        if words & {"subprocess", "pty", "multiprocessing"} or STARTS.search(package.texts[path]):
            yield words_of(path)[0]


def test_one_module_starts_processes() -> None:
    assert set(starting(TESTBED)) <= STARTS_PROCESSES
    assert not list(starting(BESIDE))
