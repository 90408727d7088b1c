"""The options of `testbed run` for a Dask cluster, and the place that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from ..option_rule import Only
from ..terminal import say

if TYPE_CHECKING:
    from ...sweep.cluster.place import Cluster

ON = "Carry out the trials on a Dask cluster: tcp://HOST:8786, a scheduler file, or local:N."
OF_CLUSTER = Only(("--any-worker",), "--on", "--any-worker has no use without --on; allowed: --on WHERE --any-worker")
ANY_WORKER = OF_CLUSTER.help("also use workers whose software differs from this computer's.")


def place(on: str | None, any_worker: bool, console: Console, *, is_fresh: bool = False) -> Cluster | None:
    """None without --on. Raises UserError for what is no place. With `is_fresh` nothing that workers have kept will
    do.
    """
    if on is None:
        return None
    from ...sweep.cluster import place  # which takes long to import

    def notice(said: str) -> None:
        say(console, f"cluster: {said}")

    return place.Cluster(place.where(on), any_worker, notice, is_fresh=is_fresh)
