"""report.html: a calibration as one page that needs nothing else. Pure.

Whatever comes from files is text in it: it is escaped, and a policy forbids the page scripts and connections.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from ..error import harmless
from ..units import counted
from . import figure
from .link import in_unit, interval_words
from .outcome import Outcome, counts
from .verdict import Judged

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
STYLE = """body{font:14px/1.5 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1.5rem}td,th{border-bottom:1px solid #ddd;padding:.25rem .5rem;
text-align:left;vertical-align:top}th{font-weight:600}.agrees{color:#00664a}.differs{color:#b03a00;font-weight:600}
.cannot,.not{color:#666}svg{width:100%;height:auto}caption{text-align:left;font-weight:600}"""
HEADS = ("measurement", "metric", "measured", "rebuilt", "ratio, 95 %", "verdict")


def page(outcome: Outcome) -> str:
    """The whole file."""
    kept = [each for each in outcome.fit.explanations if each.fits]
    parts = [
        f"<h1>Calibrated path</h1><p>The claim is <b>calibrated</b>, not reproduced. {_summary(outcome.judged)}</p>",
        figure.draw(outcome),
        _table("Verdicts", HEADS, map(_verdict, (each for each in outcome.judged if not each.held_out))),
    ]
    held = [each for each in outcome.judged if each.held_out]
    if held:
        parts.append(_table("Verdicts of files held out", HEADS, map(_verdict, held)))
    parts += [
        _table("What was fitted", ("property", "value", "interval", "rule", "what would tell more"), _fitted(outcome)),
        _table(
            "Explanations that fit",
            ("of", "explanation", "why", "what would tell them apart"),
            ((each.of, each.says, each.why, each.apart or "") for each in kept),
        ),
        _table("Files", ("file", "told", "did not tell"), _files(outcome)),
        _table("Notes", ("",), ((each,) for each in (*outcome.notes, *outcome.rebuilt.notes))),
    ]
    body = "\n".join(parts)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{html.escape(POLICY)}"><title>Calibration</title><style>{STYLE}</style></head><body>{body}</body></html>\n'
    )


def _summary(judged: Sequence[Judged]) -> str:
    return _text(", ".join(f"{word}: {count}" for word, count in counts(judged).items()) + ".")


def _verdict(each: Judged) -> tuple[str, ...]:
    span = "" if each.low is None or each.high is None else f", {each.low:.3f} to {each.high:.3f}"
    ratio = "" if each.ratio is None else f"{each.ratio:.3f}{span}"
    values = [f"{shown(value, each.unit)} ({counted(n, 'run')})" if value is not None else "–" for value, n in
              zip((each.measured, each.rebuilt), each.runs, strict=True)]  # fmt: skip
    return (each.said, each.metric, *values, ratio, f"{each.verdict}{f': {each.why}' if each.why else ''}")


def shown(value: float, unit: str) -> str:
    """A measured number for people."""
    return f"{value * 100:.3g} %" if unit == "ratio" else in_unit(value, unit)


def _fitted(outcome: Outcome) -> Iterable[tuple[str, ...]]:
    for name, each in outcome.fit.fitted.items():
        value = "not identifiable" if each.value is None else in_unit(each.value, each.unit)
        yield name, value, interval_words(each), each.rule, each.next or ""


def _files(outcome: Outcome) -> Iterable[tuple[str, ...]]:
    for each in (*outcome.readings, *outcome.held):
        yield f"{each.file} ({each.format})", "; ".join(each.told), "; ".join((*each.untold, *each.notes))


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    found = [f"<tr>{''.join(_cell(each) for each in row)}</tr>" for row in rows]
    if not found:
        return ""
    head = "".join(f"<th>{_text(each)}</th>" for each in heads)
    return f"<table><caption>{_text(caption)}</caption><tr>{head}</tr>{''.join(found)}</table>"


def _cell(text: str) -> str:
    word = text.split(" ")[0].split(":")[0]
    mark = f' class="{word}"' if word in ("agrees", "differs", "cannot", "not") else ""
    return f"<td{mark}>{_text(text)}</td>"


def _text(text: str) -> str:
    return html.escape(harmless(text))
