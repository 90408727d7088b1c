"""The page: a report's value as one HTML file that needs nothing else. Pure, but for reading what the page is made of.

Whatever comes from a run is data: it stands in the file as JSON in which no character can end its element, and the page
sets it as text. A policy in the file forbids the page every connection.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from ..browser.page_text import SHARED, asset, data
from ..error import harmless

ASSETS = Path(__file__).with_name("assets")
VENDORED = ("vendor/vega.min.js", "vendor/vega-lite.min.js")
OWN = (
    "state.js",
    "dom.js",
    "look.js",
    "chart.js",
    "shape.js",
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
COMMON = ("dom.js", "look.js", "shape.js")
"""Those of OWN that other pages have, too."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; "
    "connect-src {connect}; base-uri 'none'; form-action 'none'"
)
"""Vega compiles expressions, so that it needs eval."""


def page(view: Mapping[str, Any], live: bool = False) -> str:
    """The whole file. A live one asks the address it came from how the run goes on."""
    scripts = [*VENDORED, *OWN, *([LIVE] if live else [])]
    return Template(asset_of("page.html")).substitute(
        policy=html.escape(POLICY.format(connect="'self'" if live else "'none'")),
        title=html.escape(harmless(f"{view['run']['name']}: report")),
        style=asset_of("page.css"),
        data=data(view),
        scripts="\n".join(f"<script>{asset_of(name)}</script>" for name in scripts),
    )


def asset_of(name: str) -> str:
    """A script or a style, its own or one that several pages have."""
    return asset(SHARED if name in COMMON else ASSETS, name)
