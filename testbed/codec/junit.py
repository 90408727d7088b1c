"""JUnit's XML by the schemas in use: suites with all their attributes, and the cases in them. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from .markup import fit

NEVER = "1970-01-01T00:00:00"
"""The time stamp of what has none."""
NO_TIME = "0"


def suite(
    name: str,
    package: str,
    cases: Sequence[ElementTree.Element],
    said: str,
    *,
    number: int = 0,
    timestamp: str = NEVER,
    time: str = NO_TIME,
) -> ElementTree.Element:
    """A suite of cases, which it counts by what is in them; `said` is its output."""
    tags = [case[0].tag if len(case) else "" for case in cases]
    made = ElementTree.Element(
        "testsuite",
        name=fit(name),
        package=fit(package),
        id=str(number),
        hostname="localhost",
        timestamp=timestamp,
        tests=str(len(cases)),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error")),
        skipped=str(tags.count("skipped")),
        time=time,
    )
    ElementTree.SubElement(made, "properties")
    made.extend(cases)
    ElementTree.SubElement(made, "system-out").text = fit(said)
    ElementTree.SubElement(made, "system-err")
    return made


def case(classname: str, name: str, time: str = NO_TIME) -> ElementTree.Element:
    """A case that passed, unless something is added to it."""
    return ElementTree.Element("testcase", classname=fit(classname), name=fit(name), time=time)


def document(suites: Iterable[ElementTree.Element]) -> str:
    """The text of a file."""
    whole = ElementTree.Element("testsuites")
    whole.extend(suites)
    ElementTree.indent(whole)
    return ElementTree.tostring(whole, encoding="unicode", xml_declaration=True) + "\n"


def seconds(time_s: float) -> str:
    """A time as build servers read it: seconds with three decimals."""
    return f"{time_s:.3f}"
