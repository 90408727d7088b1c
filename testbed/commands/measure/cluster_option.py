"""The options of `testbed run` for a Dask cluster, and the place that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from ...error import UserError
from ..terminal import say

if TYPE_CHECKING:
    from ...sweep.cluster.place import Cluster

ON = "Carry out the trials on a Dask cluster: tcp://HOST:8786, a scheduler file, or local:N."
ANY_WORKER = "With --on: also use workers whose software differs from this computer's."


def place(
    on: str | None, any_worker: bool, is_alone: bool, console: Console, *, is_fresh: bool = False
) -> Cluster | None:
    """None without --on. Raises UserError for what is no place, and for options that `is_alone` says do not go
    together with it. With `is_fresh` nothing that workers have kept will do.
    """
    if on is None:
        if any_worker:
            raise UserError("--any-worker has no use without --on; allowed: --on WHERE --any-worker")
        return None
    if not is_alone:
        raise UserError("--on runs a scenario; allowed: it without --repeat, --dry-run and --until-decided")
    from ...sweep.cluster import place  # which takes long to import

    def notice(said: str) -> None:
        say(console, f"cluster: {said}")

    return place.Cluster(place.where(on), any_worker, notice, is_fresh=is_fresh)
