"""The live page itself: HTML that needs nothing else. Pure, but for reading what it is made of."""

from __future__ import annotations

from pathlib import Path
from string import Template

from ...browser.page_text import SHARED, asset

ASSETS = Path(__file__).with_name("assets")
VENDORED = ("vendor/xterm.js", "vendor/addon-fit.js")
COMMON = ("dom.js", "look.js", "shape.js")
OWN = ("picture.js", "panel.js", "terminal.js", "watch.js")


def policy(nonce: str) -> str:
    """Only the scripts of the page run, and it talks to where it came from alone. xterm.js makes styles."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def page(nonce: str) -> str:
    scripts = [
        *(asset(ASSETS, name) for name in VENDORED),
        *(asset(SHARED, name) for name in COMMON),
        *(asset(ASSETS, name) for name in OWN),
    ]
    return Template(asset(ASSETS, "watch.html")).substitute(
        style=asset(ASSETS, "vendor/xterm.css") + asset(ASSETS, "watch.css"),
        scripts="\n".join(f'<script nonce="{nonce}">{script}</script>' for script in scripts),
    )
