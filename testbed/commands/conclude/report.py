"""`testbed report`: writes everything about a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError

EXAMPLES = (
    ("Write results/quickstart/report.html", "testbed report results/quickstart"),
    ("Write it elsewhere", "testbed report results/quickstart -o /tmp/quickstart.html"),
)


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write; DIR/report.html if left out."),
    ] = None,
) -> None:
    """The page opens in any browser, without a server and without a network."""
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
