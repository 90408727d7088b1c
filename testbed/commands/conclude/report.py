"""`testbed report`: writes everything about a run as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...error import UserError

EXAMPLES = (
    ("Write results/quickstart/report.html", "testbed report results/quickstart"),
    ("Compare with a profile of your own in it", "testbed report results/quickstart --profile mine.yaml"),
    ("Write it elsewhere", "testbed report results/quickstart -o /tmp/quickstart.html"),
)


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write; DIR/report.html if left out."),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROFILE",
            help="Compare with this profile too, published or your own: NAME, FILE or NAME#SERIES; may be repeated.",
        ),
    ] = None,
) -> None:
    """The page opens in any browser, without a server and without a network."""
    from ...compare import published
    from ...report.page import page  # SciPy takes a second to import, which no other command should pay for
    from ...report.stored_run import read
    from ...report.view import view
    from ...trial.folder import write_named, write_text

    path = output or folder / "report.html"
    text = page(view(read(folder), profiles=[published.find(each) for each in profile or []]))
    try:
        if output is None:
            write_text(path, text)  # the folder is perhaps not ours, nor is a link of this name
        else:
            write_named(path, text)
    except OSError as error:
        raise UserError(
            f"the report {path} cannot be written: {error.strerror}; allowed: -o with a file that can"
        ) from None
    print(path)
