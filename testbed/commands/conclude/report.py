"""`testbed report`: everything about a run on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="What `testbed run -o` wrote.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where it goes (DIR/report.html).")
    ] = None,
) -> None:
    """Write a report of a run: one HTML file that opens in any browser, without a network."""
    from ...report.page import page  # SciPy takes a second to import, which no other command should pay for
    from ...report.stored_run import read
    from ...report.view import view

    path = output or folder / "report.html"
    text = page(view(read(folder)))
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"the report {path} cannot be written: {error.strerror}; allowed: -o with a file that can"
        ) from None
    print(path)
