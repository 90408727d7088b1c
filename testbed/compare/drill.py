"""What packetdrill's scripts say of one kernel, or of two: counts, JUnit, KTAP. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from ..codec.frozen import dataclass
from ..codec.markup import fit
from ..units import counted
from .junit import seconds


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
    whole = ElementTree.Element("testsuites")
    counts: Mapping[str, int] = {
        "tests": len(found),
        "failures": sum(each.wrong is not None and not each.is_known for each in found),
        "errors": 0,
        "skipped": sum(each.is_known for each in found),
        "id": 0,
    }
    about = {"name": "packetdrill", "package": "testbed.packetdrill", "hostname": "localhost", "timestamp": timestamp}
    about |= {name: str(count) for name, count in counts.items()}
    suite = ElementTree.SubElement(whole, "testsuite", about | {"time": seconds(sum(each.lab_s for each in found))})
    ElementTree.SubElement(suite, "properties")
    for each in found:
        name, _, version = each.name.rpartition(" ")
        case = ElementTree.SubElement(
            suite, "testcase", classname=fit(version), name=fit(name), time=seconds(each.lab_s)
        )
        if each.is_known and each.wrong is not None:
            ElementTree.SubElement(case, "skipped", message=fit(f"it fails on the base, too: {reason(each.wrong)}"))
        elif each.wrong is not None:
            why = ElementTree.SubElement(case, "failure", message=fit(reason(each.wrong)), type="failed")
            why.text = fit(each.wrong)
    ElementTree.SubElement(suite, "system-out").text = fit(sentence(found, kernel, base))
    ElementTree.SubElement(suite, "system-err")
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"
