"""Dask clusters for tests: a scheduler and workers, each a process of its own with a home of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from distributed import Client
from patience import PATIENCE_S, wait_for

TESTS = Path(__file__).parent
STUB = TESTS / "cluster_stub.py"


@dataclass
class Processes:
    """A cluster whose processes end with the block."""

    folder: Path
    environment: Mapping[str, str]
    address: str = ""
    scheduler: subprocess.Popen[bytes] | None = None
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_scheduler(self, port: int = 0) -> None:
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        words = ("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show")
        self.scheduler = self._start("scheduler", *words, "--scheduler-file", str(file))
        wait_for(lambda: file.exists() and file.stat().st_size > 0)
        import json

        self.address = json.loads(file.read_text())["address"]

    def start_worker(self, name: str, *options: str, environment: Mapping[str, str] | None = None) -> Path:
        """A worker of one core in a home of its own, without a nanny; its home."""
        home = self.folder / name
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        own = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home / "tmp")}
        fixed = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--name", name)
        words = ("worker", self.address, *fixed, "--local-directory", str(home / "tmp"), *options)
        self.workers[name] = self._start(name, *words, environment={**own, **(environment or {})})
        return home

    def wait(self, workers: int) -> None:
        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=PATIENCE_S)

    def kill(self, name: str) -> None:
        worker = self.workers.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def kill_scheduler(self) -> None:
        assert self.scheduler is not None
        os.killpg(self.scheduler.pid, signal.SIGKILL)
        self.scheduler.wait()

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def _start(self, name: str, *words: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        command = (sys.executable, "-m", "dask", *words)
        with (self.folder / f"{name}.log").open("ab") as log:
            started = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment, **(environment or {})},
                cwd=self.folder,
                start_new_session=True,
            )
        self.others.append(started)
        return started

    def end(self) -> None:
        for each in self.others:
            if each.poll() is None:
                os.killpg(each.pid, signal.SIGKILL)
            each.wait()


@contextmanager
def processes(folder: Path, **environment: str) -> Iterator[Processes]:
    folder.mkdir(parents=True, exist_ok=True)
    code = os.pathsep.join([str(TESTS.parent), str(TESTS)])
    cluster = Processes(folder, {"PYTHONPATH": code, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error", **environment})
    try:
        yield cluster
    finally:
        cluster.end()
