"""Where `--on` says that trials are carried out: a Dask scheduler, or workers that are started here for the run."""

from __future__ import annotations

import asyncio
import logging
import re
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import journal
from ...codec.frozen import dataclass
from ...error import MachineError, UserError
from ...kernel.consumption import available_bytes
from ...kernel.lab import RESERVE_BYTES
from ...model.scenario import Trial
from ...trial.strict_folder import remove_tree
from ..ledger import Ledger
from ..run import Sweep
from . import task
from .dispatcher import Dispatcher
from .member import CORE, MEMORY
from .outfit import outfit
from .plain_pickle import accepted_only
from .pool import ClusterLost, Notice, Pool

if TYPE_CHECKING:
    from distributed import Client

LOCAL = re.compile(r"local:([1-9]\d*)")
SCHEDULER = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+")
ALLOWED = "tcp://HOST:8786, tls://HOST:8786, the scheduler file of a running scheduler, or local:N"
CONNECT_S = 20.0
NO_PAGES: dict[str, list[str]] = {f"distributed.{kind}.http.routes": [] for kind in ("scheduler", "worker", "nanny")}
SILENT = logging.CRITICAL + 1


@dataclass(frozen=True)
class Where:
    """One of the three: N workers of our own, the address of a scheduler, or its file."""

    workers: int | None = None
    address: str | None = None
    file: Path | None = None


def where(text: str) -> Where:
    """What `--on` says. Raises UserError."""
    if found := LOCAL.fullmatch(text):
        return Where(workers=int(found[1]))
    if SCHEDULER.fullmatch(text):
        return Where(address=text)
    if text.endswith(".json"):
        if not Path(text).is_file():
            raise UserError(f"--on {text}: there is no such file; allowed: {ALLOWED}")
        return Where(file=Path(text))
    raise UserError(f"--on {text} is no place for trials; allowed: {ALLOWED}")


@dataclass
class Cluster:
    """A Place of a sweep. `notice` gets a sentence for each event that people should know of; `cores` are those of the
    workers that take part, as soon as they are known. With `is_fresh` nothing that workers have kept will do.
    """

    where: Where
    any_worker: bool
    notice: Notice
    cores: int = 1
    is_fresh: bool = False

    def check(self, trials: Iterable[Trial]) -> None:
        """Raises UserError for a trial that must run on a particular computer, MachineError without Dask or without an
        answer of the scheduler.
        """
        for trial in trials:
            task.refuse(trial)
        _require_dask()
        if self.where.workers is None:
            asyncio.run(self._look())
        else:
            self.cores = self.where.workers

    def width(self) -> int:
        """How many trials run side by side, for an estimate of time."""
        return self.cores

    def carry_out(self, sweep: Sweep, ledger: Ledger) -> None:
        if sweep.waiting:
            asyncio.run(self._carry_out(sweep, ledger))

    async def _look(self) -> None:
        async with self._client() as client:
            self.cores = max(1, sum((await client.nthreads()).values()))

    async def _carry_out(self, sweep: Sweep, ledger: Ledger) -> None:
        wanted = outfit(sweep.waiting, self.any_worker)
        if self.is_fresh:
            wanted = replace(
                wanted, digest=f"{wanted.digest} {uuid.uuid4().hex}"
            )  # what has another name is kept by none
        async with self._client() as client:
            pool = Pool(client, wanted, self.notice, self.where.workers is not None)
            await Dispatcher(client, pool, sweep, ledger).carry_out()

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        from distributed import Client

        logging.getLogger("distributed").setLevel(SILENT)  # what matters, we say ourselves
        if self.where.workers is not None:
            async with _local(self.where.workers) as cluster, Client(cluster, asynchronous=True) as client:
                yield client
            return
        said = self.where.address or self.where.file
        options = {"address": self.where.address, "scheduler_file": self.where.file and str(self.where.file)}
        with accepted_only():
            client = Client(**options, asynchronous=True, timeout=CONNECT_S, set_as_default=False)
            try:
                await client
            except (OSError, TimeoutError, ValueError, RuntimeError) as error:
                await client.close()
                raise ClusterLost(f"the Dask scheduler {said} does not answer: {error}", "dask scheduler") from None
            try:
                yield client
            finally:
                await client.close()


@asynccontextmanager
async def _local(workers: int) -> AsyncIterator[Any]:
    """A scheduler and workers of one core each, which end with us. Nobody else can reach them: they talk over TLS, with
    keys that are made for the run, and their web servers, which every local user reaches, have no pages.
    """
    import dask
    from distributed import LocalCluster

    memory_bytes = max(0, available_bytes() - RESERVE_BYTES) // workers
    noted = journal.folder_noted(Path(tempfile.gettempdir()) / journal.unique("testbed-workers"), remove_tree)
    with noted as folder, dask.config.set(NO_PAGES):
        async with LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            asynchronous=True,
            dashboard_address=None,
            worker_dashboard_address=None,
            host="127.0.0.1",
            protocol="tls://",
            security=True,
            memory_limit=0,
            resources={MEMORY: memory_bytes, CORE: 1},
            local_directory=str(folder),
            silence_logs=SILENT,
        ) as cluster:
            yield cluster


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MachineError(f"--on needs Dask: {error}", "pip install distributed") from None
