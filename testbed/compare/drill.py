"""What packetdrill's scripts say of one kernel, or of two: counts, JUnit, KTAP. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ..codec import junit as xml
from ..codec.frozen import dataclass
from ..codec.markup import fit
from ..units import counted


@dataclass(frozen=True)
class Drilled:
    """A script with a version of IP: why it failed on the candidate (None: it passed), the lab time that it took, and
    why it failed on the base (None: it passed there, or there is no base).
    """

    name: str
    wrong: str | None
    lab_s: float
    base_wrong: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether it fails on the base, too."""
        return self.wrong is not None and self.base_wrong is not None


def sentence(found: Sequence[Drilled], kernel: str, base: str | None) -> str:
    """The outcome in words."""
    failed = [each for each in found if each.wrong is not None]
    said = f"{len(found) - len(failed)} of {counted(len(found), 'script')} passed on {kernel}"
    if base is None:
        return said
    worse = sum(not each.is_known for each in failed)
    better = sum(each.wrong is None and each.base_wrong is not None for each in found)
    known = len(failed) - worse
    return f"{said}; compared with {base} {worse} fail that passed, {better} pass that failed, {known} fail on both"


def reason(wrong: str) -> str:
    """The first line of why a script failed."""
    return next((line.strip() for line in wrong.splitlines() if line.strip()), wrong)


def ktap(found: Sequence[Drilled]) -> str:
    """As the kernel's selftests write it (Documentation/dev-tools/ktap.rst). One that fails on the base, too, is an
    expected failure.
    """
    lines = ["KTAP version 1", f"1..{len(found)}"]
    for number, each in enumerate(found, 1):
        directive = f" # XFAIL {reason(each.base_wrong)}" if each.is_known and each.base_wrong is not None else ""
        lines.append(f"{'ok' if each.wrong is None or each.is_known else 'not ok'} {number} {each.name}{directive}")
        lines += [f"# {line}" for line in (each.wrong or "").splitlines()]
    return "\n".join(lines) + "\n"


def junit(found: Sequence[Drilled], kernel: str, base: str | None, timestamp: str) -> str:
    """A case for each; its time is lab time. One that fails on the base, too, is skipped."""
    took = xml.seconds(sum(each.lab_s for each in found))
    said = sentence(found, kernel, base)
    suite = xml.suite("packetdrill", "testbed.packetdrill", [*map(_case, found)], said, timestamp=timestamp, time=took)
    return xml.document([suite])


def _case(each: Drilled) -> ElementTree.Element:
    name, _, version = each.name.rpartition(" ")
    case = xml.case(version, name, xml.seconds(each.lab_s))
    if each.is_known and each.wrong is not None:
        ElementTree.SubElement(case, "skipped", message=fit(f"it fails on the base, too: {reason(each.wrong)}"))
    elif each.wrong is not None:
        why = ElementTree.SubElement(case, "failure", message=fit(reason(each.wrong)), type="failed")
        why.text = fit(each.wrong)
    return case
