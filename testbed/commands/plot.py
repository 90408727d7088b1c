"""`testbed plot`: figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..store import Store


def plot(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `testbed run -o` wrote.")],
    kind: Annotated[str, typer.Argument(help="Which figure: profile (goodput over RTT).")] = "profile",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A .png, .svg or .pdf (DIR/KIND.png).")] = None,
) -> None:
    """Draw a figure of a run."""
    from ..plot import draw  # matplotlib takes a second to import, which no other command should pay for

    store = Store(folder).open()
    path = output or folder / f"{kind}.png"
    draw(kind, store.results(), store.name, path)
    print(path)
