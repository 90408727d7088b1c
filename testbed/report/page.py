"""The page: a report's value as one HTML file that needs nothing else. Pure, but for reading what the page is made of.

Whatever comes from a run is data: it stands in the file as JSON in which no character can end its element, and the page
sets it as text. A policy in the file forbids the page every connection.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from ..error import harmless

ASSETS = Path(__file__).with_name("assets")
VENDORED = ("vendor/vega.min.js", "vendor/vega-lite.min.js")
OWN = (
    "state.js",
    "dom.js",
    "look.js",
    "chart.js",
    "network.js",
    "trust.js",
    "series.js",
    "profile.js",
    "findings.js",
    "comparison.js",
    "inside.js",
    "main.js",
)
LIVE = "live.js"
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src {connect}; base-uri 'none'; form-action 'none'"
)
"""Vega compiles expressions, so that it needs eval."""

_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def page(view: Mapping[str, Any], live: bool = False) -> str:
    """The whole file. A live one asks the address it came from how the run goes on."""
    scripts = [*VENDORED, *OWN, *([LIVE] if live else [])]
    return Template(_asset("page.html")).substitute(
        policy=html.escape(POLICY.format(connect="'self'" if live else "'none'")),
        title=html.escape(harmless(f"{view['run']['name']}: report")),
        style=_asset("page.css"),
        data=data(view),
        scripts="\n".join(f"<script>{_asset(name)}</script>" for name in scripts),
    )


def data(view: Mapping[str, Any]) -> str:
    """JSON that can stand in HTML, and whose texts are harmless. Raises ValueError for a number that JSON has not."""
    return json.dumps(_shown(view), separators=(",", ":"), allow_nan=False, ensure_ascii=False).translate(_ESCAPED)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, Mapping):
        return {harmless(key) if isinstance(key, str) else key: _shown(each) for key, each in value.items()}
    return [_shown(each) for each in value] if isinstance(value, list | tuple) else value


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
