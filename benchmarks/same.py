"""Whether two checkouts read and plan the same: `python -m benchmarks same --against CHECKOUT [PART …]`.

    python -m benchmarks same --against ../older-checkout                    # all parts, a few thousand mappings each
    python -m benchmarks same --against ../older-checkout flow link          # two kinds of mappings
    python -m benchmarks same --against ../older-checkout --count 1000000    # the long form: hours

The parts are `schemas` (the two JSON Schemas, except for names of definitions, titles and the values of defaults),
`files` (what `check` and `plan` say of every topology and scenario that comes with the testbed and of all in
tests/specs and tests/plans, and the steps of some trials), and for each tool, node type, background, link, entry of a
schedule and for what else a trial and a scenario have: random mappings, which must have the same canonical text in
the same order on both sides, or the same faults with the same places and words. The mappings are drawn from the JSON
Schema of this checkout, and some of their values are wrong.

The exit code is 1 if anything differs, 2 for wrong options. Each side runs `side.py` in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
SIDE = Path(__file__).with_name("side.py")
SHOWN = 5
"""How many differences of a part are printed."""
FOLDERS = ("topologies", "scenarios", "exercises", "benchmarks/digests", "tests/specs", "tests/plans")
TRIAL_KEYS = ("kernel", "nic", "samples", "capture", "limits", "sysctls", "seed")
AXES = ("workload", "link", "constant")
"""Kinds whose keys are varied, too: what trials are called depends on the text of a value."""
SCENARIO_KEYS = (
    *("sweep", "exclude", "until", "primary", "expect", "quick", "repetitions", "seed", "neighbours", "engine", "ip"),
    *("description", "capture"),
)


def main(words: Sequence[str]) -> int:
    options = _parser().parse_args(words)
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        before, now = (json.loads(line) for line in _schemas(options.against, options.python))
        kinds = mapping_kinds(before, now)
        unknown = sorted(set(options.parts) - {"schemas", "files", *kinds})
        if unknown:
            _parser().error(f"there is no part {', '.join(unknown)}; allowed: schemas, files, {', '.join(kinds)}")
        known = Path(folder, "kinds.json")
        known.write_text(json.dumps({**kinds, "definitions": now["$defs"]}))
        calls = {"files": ["files", *map(str, spec_files(CHECKOUT))]}
        calls |= {kind: ["mappings", kind, options.seed, str(options.count), str(known)] for kind in kinds}
        counts = []
        for part in options.parts or ["schemas", *calls]:
            pairs = _of_schemas(options) if part == "schemas" else _lines(options, calls[part])
            counts.append(_compared(part, pairs))
    return 1 if any(counts) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks same", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="all if left out")
    parser.add_argument("--against", type=Path, required=True, metavar="CHECKOUT", help="the checkout to compare with")
    parser.add_argument("--python", default=sys.executable, help="the Python of the other checkout (this one)")
    parser.add_argument("--count", type=int, default=2000, help="random mappings of each kind (2000)")
    parser.add_argument("--seed", default="1", help="of the random mappings (1)")
    return parser


def spec_files(checkout: Path) -> list[Path]:
    """All that come with a checkout, by their paths from it."""
    found = (path for folder in FOLDERS for path in sorted(checkout.joinpath(folder).rglob("*.yaml")))
    return [path.relative_to(checkout) for path in found if path.name != "exercise.yaml"]


def mapping_kinds(topology: dict[str, Any], scenario: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """By name: where a mapping of this kind goes, and its JSON Schema."""
    definitions = scenario["$defs"]

    def variants(choice: Any, where: str) -> Iterator[tuple[str, tuple[str, Any]]]:
        for each in choice["oneOf"]:
            model = definitions[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
            tag = next(value["const"] for value in model["properties"].values() if "const" in value)
            yield tag, (where, model)

    inline = definitions[scenario["properties"]["topology"]["oneOf"][1]["$ref"].rpartition("/")[2]]
    node, link = (next(iter(inline["properties"][key]["patternProperties"].values())) for key in ("nodes", "links"))
    background = next(iter(scenario["properties"]["background"]["patternProperties"].values()))
    link = definitions[link["$ref"].rpartition("/")[2]]
    change = link["properties"]["schedule"]["anyOf"][1]["items"]
    change = definitions[change["$ref"].rpartition("/")[2]] if "$ref" in change else change
    found = dict(variants(scenario["properties"]["workload"], "workload"))
    found |= dict(variants(background, "background"))
    found |= dict(variants(node, "node"))
    found |= {"link": ("link", link), "change": ("change", change)}
    found |= {f"{name}-axes": ("axes", model) for name, (put, model) in found.items() if put in AXES or name in AXES}
    for name, keys in (("trial", TRIAL_KEYS), ("scenario", SCENARIO_KEYS)):
        found[name] = (name, {"properties": {key: scenario["properties"][key] for key in keys}, "required": []})
    return found


def _compared(part: str, pairs: Iterator[tuple[str, str]]) -> int:
    """How many lines differ; some of them are printed."""
    total = differ = 0
    for one, other in pairs:
        total += 1
        if one != other:
            differ += 1
            if differ <= SHOWN:
                print(f"  before: {one}\n  now:    {other}")
    print(f"{part:14}{total:8} {'lines' if part in ('schemas', 'files') else 'mappings'}, {differ} differ", flush=True)
    return differ or int(not total)


def _lines(options: argparse.Namespace, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Those of the other checkout beside those of this one; both run at the same time."""
    with _side(options.against, options.python, words) as before, _side(CHECKOUT, sys.executable, words) as now:
        for one, other in zip_longest(before.stdout or (), now.stdout or (), fillvalue="(nothing)"):
            yield one.strip().replace(f"{options.against.resolve()}/", ""), other.strip().replace(f"{CHECKOUT}/", "")
    if before.returncode or now.returncode:
        yield f"exit code {before.returncode}", f"exit code {now.returncode} (of a side)"


def _side(checkout: Path, python: str, words: Sequence[str]) -> subprocess.Popen[str]:
    checkout = checkout.resolve()
    environment = {**os.environ, "PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0", "COLUMNS": "200"}
    return subprocess.Popen(
        [python, "-P", str(SIDE), *words], cwd=checkout, env=environment, stdout=subprocess.PIPE, text=True
    )


def _schemas(checkout: Path, python: str) -> list[str]:
    done = _side(checkout, python, ["schemas"])
    return (done.communicate()[0] or "").splitlines()


def _of_schemas(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """A line for each place of the schemas, with all definitions in their places."""
    both = [[json.loads(line) for line in _schemas(*side)] for side in (
        (options.against, options.python), (CHECKOUT, sys.executable))]  # fmt: skip
    for name, one, other in zip(("topology", "scenario"), *both, strict=True):
        yield from _places(name, whole(one, one), whole(other, other))


def _places(path: str, one: Any, other: Any) -> Iterator[tuple[str, str]]:
    if isinstance(one, dict) and isinstance(other, dict):
        same_order = not path.endswith("/properties") or list(one) == list(other)
        yield (
            f"{path} {sorted(one) if same_order else list(one)}",
            f"{path} {sorted(other) if same_order else list(other)}",
        )
        for key in one.keys() & other.keys():
            yield from _places(f"{path}/{key}", one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _places(f"{path}/{index}", left, right)
    elif one != other:
        yield f"{path} {json.dumps(one)[:300]}", f"{path} {json.dumps(other)[:300]}"


def whole(part: Any, root: dict[str, Any]) -> Any:
    """A schema with its definitions in their places, without names of definitions, titles and values of defaults."""
    if isinstance(part, list):
        return [whole(each, root) for each in part if each != {"type": "null"}]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        rest = {key: value for key, value in part.items() if key != "$ref"}
        return whole({**root["$defs"][part["$ref"].rpartition("/")[2]], **rest}, root)
    kept = {
        key: value for key, value in part.items() if key != "$defs" and not (key == "title" and isinstance(value, str))
    }
    if "discriminator" in kept:
        kept["discriminator"] = sorted(kept["discriminator"]["mapping"])
    return {key: "a default" if key == "default" else whole(value, root) for key, value in kept.items()}
