"""The trials in which a candidate broke the kernel, and what the kernel said: for people, and for build servers. Reads
results.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from ...codec import junit as xml
from ...codec.markup import escaped, fit
from ...error import harmless, visible
from ...kernel import oops
from ...sweep.run_file import suite
from ...sweep.store import Store
from ...trial.subject import taint
from ...units import counted

Broken = Mapping[str, str]
"""By scenario and trial, as "bulk: flows=1,seed=1": what the kernel said."""
SHOWN = 3
"""So many of them are shown for people, each text once; the file for build servers has all."""
KERNEL = "kernel"


def found(base: Broken, candidate: Broken) -> Broken:
    """Those of the candidate in which its kernel said what that of the base says in none, from there on and as much as
    is shown.
    """
    known, places = _kinds(base, {}), oops.Places()
    new = {where: said for where, said in candidate.items() if not _kinds({where: said}, places) <= known}
    return {where: oops.told(said, known, places) for where, said in new.items()}


def shared(base: Broken, candidate: Broken) -> Sequence[str]:
    """In words, how often the kernel broke on both sides, if it did on that of the base."""
    if not base:
        return ()
    where, said = next(iter(base.items()))
    many = counted(len(base), "trial")
    return (f"the base's kernel broke in {many}, the candidate's in {len(candidate)}; {where}: {_line(said)}",)


def _kinds(broken: Broken, places: oops.Places) -> frozenset[str]:
    return oops.kinds(*broken.values(), places=places) | {said for said in broken.values() if oops.line(said) is None}


def told(home: Path) -> Broken:
    """The trials of a side that ended with a panic, or in which the kernel warned or oopsed and went on, as `Broken`
    with all that is stored of what it said.
    """
    found: dict[str, str] = {}
    for root in suite(home) if home.is_dir() else ():
        store = Store(root)
        failures = {id: oops.of_failure(why) for id, why in store.failures().items()}
        warned = {each.name: taint.warned(each) for each in sorted(root.glob("trials/*"))}
        found |= {f"{root.name}: {id}": said for id, said in {**failures, **warned}.items() if said is not None}
    return found


def sentence(label: str, broken: Broken) -> str:
    """That it breaks the kernel, in one sentence."""
    where, said = next(iter(broken.items()))
    which = "" if len(broken) == 1 else "the first of which is "
    return f"{label} breaks the kernel: in {counted(len(broken), 'trial')}, {which}{where}: {_line(said)}"


def _line(said: str) -> str:
    return visible((oops.line(said) or said).strip())


def _shown(broken: Broken) -> Iterator[tuple[str, str]]:
    """A heading and a text for each of the first that differ."""
    alike: dict[str, list[str]] = {}
    for where, said in broken.items():
        alike.setdefault(_line(said), []).append(where)
    for where in [each[0] for each in alike.values()][:SHOWN]:
        yield where, harmless(broken[where])


def lines(broken: Broken) -> Sequence[str]:
    """For a terminal."""
    return [line for where, said in _shown(broken) for line in (f"the kernel in {where}:", *said.splitlines())]


def markdown(broken: Broken) -> str:
    """Blocks of code, which nothing in them can end."""
    blocks = (
        f"The kernel in {escaped(where)}:\n\n" + "".join(f"    {line}\n" for line in said.splitlines())
        for where, said in _shown(broken)
    )
    return "".join(f"{each}\n" for each in blocks)


def section(broken: Broken) -> Sequence[str]:
    """HTML of a page."""
    blocks = [
        f'<p>{html.escape(where)}</p><pre class="scroll">{html.escape(said)}</pre>' for where, said in _shown(broken)
    ]
    return [f"<h2>The kernel broke in {counted(len(broken), 'trial')}</h2>", *blocks] if broken else []


def junit_suite(broken: Broken, number: int, timestamp: str) -> ElementTree.Element:
    """A suite in which each of these trials is a failure with what the kernel said."""
    cases = []
    for where, said in broken.items():
        scenario, _, id = where.partition(": ")
        case = xml.case(f"{KERNEL}: {scenario}", id)
        ElementTree.SubElement(case, "failure", message=fit(_line(said)), type="broken").text = fit(said)
        cases.append(case)
    said = f"the kernel broke in {counted(len(broken), 'trial')}"
    return xml.suite(KERNEL, "testbed.cc", cases, said, number=number, timestamp=timestamp)
