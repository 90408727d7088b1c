"""Figures of a run, with matplotlib. Writes the file it is asked for; returns nothing else.

Every kind is a module with a function `draw`, which fills a figure. The caption below says what is needed to repeat it.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from pathlib import Path

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ...error import UserError, harmless
from ...trial.folder import write_named
from ..caption import caption
from ..stored_run import StoredRun
from . import cdf, cuc, fct, heatmap, profile, timeseries, topology, tradeoff, windows
from .option import Options, part
from .style import GREY

LETTERS_AN_INCH = 17
METADATA = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {"Software": None}}
"""Nothing of the hour: the same results make the same file."""


def draw(
    kind: str,
    run: StoredRun,
    path: Path,
    options: Options | None = None,
    write: Callable[[Path, bytes], None] = write_named,
) -> None:
    """Draws a figure of the results that are not invalid. The ending of `path` says the format.

    Raises UserError for an unknown kind, for results that the kind cannot show, and for a path that cannot be written.
    """
    if kind not in KINDS:
        raise UserError(f"{kind!r} is not a kind of figure; allowed: {', '.join(KINDS)}")
    if path.suffix not in METADATA:
        raise UserError(f"the figure {path} would have an unknown format; allowed: {', '.join(METADATA)}")
    if not run.results:
        raise UserError(f"{run.path} has no finished trial; allowed: a run with at least one (testbed run)")
    options = options or Options()
    run = part(run, options)
    if not run.usable and kind in OF_GOODPUT:
        raise UserError(
            "there is no trial with a goodput that is not invalid; allowed: results with at least one "
            "(testbed results says why)"
        )
    with matplotlib.rc_context(
        {
            "svg.hashsalt": "testbed",
            "svg.fonttype": "none",
            "pdf.fonttype": 42,
            "text.parse_math": False,  # a dollar sign in a result begins no formula
        }
    ):
        figure = Figure(layout="constrained")
        FigureCanvasAgg(figure)
        KINDS[kind](figure, run, options)
        figure.suptitle(harmless(f"{run.name}: {TITLES[kind]}"), fontsize=11, x=0.01, horizontalalignment="left")
        said = harmless(caption(run, kind, options.words))
        below = textwrap.fill(said, int(LETTERS_AN_INCH * figure.get_figwidth()))
        figure.supxlabel(below, fontsize=7, color=GREY, x=0.01, horizontalalignment="left")
        figure.set_figheight(figure.get_figheight() + 0.13 * (below.count("\n") + 1))
        try:
            drawn = io.BytesIO()
            figure.savefig(drawn, format=path.suffix[1:], dpi=200, metadata=METADATA[path.suffix])
            write(path, drawn.getvalue())
        except OSError as error:
            raise unwritable(path, error) from None
        except ValueError as error:
            raise UserError(f"the figure {path} cannot be written: {error}") from None


def unwritable(path: Path, error: OSError) -> UserError:
    return UserError(
        f"the figure {path} cannot be written in the folder {path.absolute().parent}: {error.strerror}; allowed: -o "
        "with a file in a folder that is there and can be written"
    )


KINDS: dict[str, Callable[[Figure, StoredRun, Options], None]] = {
    "profile": profile.draw,
    "windows": windows.draw,
    "cuc": cuc.draw,
    "cdf": cdf.draw,
    "fct": fct.draw,
    "tradeoff": tradeoff.draw,
    "timeseries": timeseries.draw,
    "heatmap": heatmap.draw,
    "topology": topology.draw,
}
TITLES = {
    "profile": "goodput over the round-trip time",
    "windows": "transfer by window",
    "cuc": "utilization-concavity coefficient",
    "cdf": "distribution",
    "fct": "flow completion times",
    "tradeoff": "what goodput costs",
    "timeseries": "inside a trial",
    "heatmap": "mean of each cell",
    "topology": "the network",
}
OF_GOODPUT = frozenset({"profile", "windows", "cuc", "cdf", "fct", "tradeoff", "heatmap"})
