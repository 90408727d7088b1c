"""A worker of a cluster that sends what it likes: nothing of it runs in the client, and answers are what they claim."""

from __future__ import annotations

import os
import pickle
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clusters import Processes, processes
from distributed import client
from distributed.comm import CommClosedError
from distributed.core import error_message
from distributed.protocol import deserialize, serialize
from distributed.protocol import pickle as of_dask
from distributed.scheduler import KilledWorker, WorkerState
from patience import PATIENCE_S

from testbed.error import MachineError
from testbed.kernel import parcel
from testbed.kernel.guest import TrialError
from testbed.kernel.parcel import Parcel
from testbed.sweep.cluster import member, place, task
from testbed.sweep.cluster.kernel_parcel import KernelId
from testbed.sweep.cluster.member import Member
from testbed.sweep.cluster.plain_pickle import Refused, accepted_only
from testbed.sweep.cluster.pool import ClusterLost
from testbed.sweep.cluster.task import Outcome

KERNEL = KernelId("lab", "k", "i")
MEMBER = Member("w", "host", 2, 1 << 30, {"python": "3"}, (KERNEL,), ("key",))
OUTCOME = Outcome("key", "finished", "tcp://w", Parcel.of(b"files"))


class Calls:
    """Calls something, whoever unpickles it."""

    def __init__(self, what: Any, *words: Any) -> None:
        self.call = (what, words)

    def __reduce__(self) -> Any:
        return self.call


ATTACKS: dict[str, Callable[[str], object]] = {
    "a command": lambda mark: Calls(os.system, f"touch {mark}"),
    "a file": lambda mark: Calls(open, mark, "w"),
    "code": lambda mark: Calls(eval, f"open({mark!r}, 'w')"),
    "an attribute": lambda mark: Calls(getattr, Calls, "__init__"),
    "inside an answer": lambda mark: Outcome("k", "finished", "w", None, Calls(os.mkdir, mark)),  # type: ignore[arg-type]
    "inside an exception": lambda mark: MachineError("x", Calls(os.mkdir, mark)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", ATTACKS)
def test_what_a_worker_sends_is_not_called(what: str, tmp_path: Path) -> None:
    """Dask unpickled it in the client, with all rights of the user."""
    mark = tmp_path / "it-ran"
    header, frames = serialize(ATTACKS[what](str(mark)))
    bare = pickle.dumps(ATTACKS[what](str(mark)))
    with accepted_only():
        found = deserialize(header, frames)
        with pytest.raises(Refused):
            pickle.loads(bare)  # as a part of Dask does that has its own way to it
    assert isinstance(found, Refused) or task.received(found) is None
    assert not mark.exists()


def test_outside_of_a_run_pickles_are_what_they_were() -> None:
    before = of_dask.loads
    with accepted_only():
        assert of_dask.loads is not before
    assert of_dask.loads is before
    assert pickle.loads(pickle.dumps(Path("x"))) == Path("x")


@pytest.mark.parametrize("sent", [MEMBER, OUTCOME, OUTCOME.parcel, Outcome("k", "failed", "w", None, "why"), None, 3])
def test_an_answer_arrives_as_it_was_sent(sent: object) -> None:
    header, frames = serialize(sent)
    with accepted_only():
        found = deserialize(header, frames)
    made = {Member: member.received, Outcome: task.received, Parcel: parcel.received}.get(type(sent))
    assert (found if made is None else made(found)) == sent


@pytest.mark.parametrize("error", [TrialError("it died"), MachineError("no QEMU", "apt"), OSError(2, "none", "f")])
def test_an_error_arrives_with_its_words(error: Exception) -> None:
    try:
        raise error
    except Exception as raised:
        sent = error_message(raised)
    with accepted_only():
        found = of_dask.loads(sent["exception"].data)
        assert of_dask.loads(sent["traceback"].data) is None
    assert isinstance(found, type(error))
    assert str(error).startswith(str(found))  # but for the name of a file, which Dask does not send


def test_the_death_of_a_worker_is_told_with_its_address() -> None:
    state: Any = WorkerState(
        address="tcp://1.2.3.4:5", status=None, pid=1, name="w", nthreads=1, memory_limit=1, local_directory="/",
        nanny=None, server_id="x", versions={},
    )  # fmt: skip
    state._occupancy_cache = 1.0
    sent = of_dask.dumps(KilledWorker("key", state.clean(), 3))
    with accepted_only():
        found = of_dask.loads(sent)
    assert isinstance(found, KilledWorker)
    assert found.last_worker.address == "tcp://1.2.3.4:5"


def test_that_a_worker_died_when_it_was_asked_is_told() -> None:
    """The client reads it by a way of its own; a campaign ended in an exception."""
    sent = of_dask.dumps(CommClosedError("in <TCP> tcp://1.2.3.4:5: end of stream"))
    with accepted_only():
        found = client.loads(sent)
    assert isinstance(found, CommClosedError)
    assert "end of stream" in str(found)
    assert client.loads is of_dask.loads


def test_a_pickle_cannot_change_a_class_of_ours() -> None:
    """BUILD with a state for slots sets attributes of whatever is there, also of a class."""
    change = b"\x80\x04ctestbed.error\nMachineError\nN}\x8c\x09exit_codeK\x00s\x86b."
    with accepted_only():
        of_dask.loads(change)
    assert MachineError.exit_code == 3


WRONG = [
    Outcome("k", "finished", "w", "no parcel"),  # type: ignore[arg-type]
    Outcome("k", "won", "w"),  # type: ignore[arg-type]
    Outcome(1, "finished", "w"),  # type: ignore[arg-type]
    Outcome("k", ["finished"], "w"),  # type: ignore[arg-type]
    Outcome("k", "finished", "w", Parcel("text", "d")),  # type: ignore[arg-type]
    Outcome("k", "finished", "w", None, b"why"),  # type: ignore[arg-type]
    "finished",
    None,
    Refused("x"),
]


@pytest.mark.parametrize("value", WRONG, ids=range(len(WRONG)))
def test_an_outcome_is_looked_into(value: object) -> None:
    assert task.received(value) is None


@pytest.mark.parametrize(
    "change",
    [{"cores": -1}, {"cores": "2"}, {"memory_bytes": 1.5}, {"parts": []}, {"parts": {"python": 3}}, {"lacking": 1},
     {"kept": (1,)}, {"name": None}, {"host": b"h"}],
)  # fmt: skip
def test_a_member_is_looked_into(change: dict[str, Any]) -> None:
    assert member.received(Member(**{**vars(MEMBER), **change})) is None


HOSTILE = """
import os
from testbed.sweep.cluster import member

class Mark:
    def __reduce__(self):
        return os.mkdir, ({mark!r},)

def present(kernels, dask_worker=None):
    return Mark()

def dask_setup(worker):
    member.present = present
"""


@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_a_worker_that_sends_a_call_is_refused_and_nothing_runs(tmp_path: Path) -> None:
    mark = tmp_path / "it-ran"
    (tmp_path / "hostile.py").write_text(HOSTILE.format(mark=str(mark)))
    with processes(tmp_path / "cluster") as cluster:
        cluster.start_scheduler()
        cluster.start_worker("mallory", "--preload", str(tmp_path / "hostile.py"))
        cluster.wait(1)
        notices: list[str] = []
        with pytest.raises(ClusterLost, match=r"cannot run trials: Refused: it sent what is no answer: posix\.mkdir"):
            meet(cluster, notices)
    assert not mark.exists()


def meet(cluster: Processes, notices: list[str]) -> None:
    import asyncio

    from testbed.sweep.cluster.outfit import Outfit
    from testbed.sweep.cluster.pool import Pool

    async def met() -> None:
        where = place.Cluster(place.where(cluster.address), False, notices.append)
        async with where._client() as client:
            await Pool(client, Outfit({}, True, {}, {}, "x"), notices.append).meet()

    asyncio.run(met())


@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_workers_of_our_own_have_no_pages_for_other_users() -> None:
    """Every local user could read them: trials, folders, and what is called when."""
    import asyncio

    async def pages() -> dict[str, set[str]]:
        async with place._local(1) as cluster:
            ports = [cluster.scheduler.http_server.port]
            ports += [each["services"]["dashboard"] for each in cluster.scheduler_info["workers"].values()]
            assert len(ports) == 2
            return {path: {await asyncio.to_thread(answered, port, path) for port in ports} for path in PAGES}

    found = asyncio.run(pages())
    assert found.pop("/sitemap.json") == {'{"paths": ["/sitemap.json"]}'}
    assert set().union(*found.values()) == {"404"}


PAGES = ("/", "/health", "/info/main/workers.html", "/json/counts.json", "/metrics", "/status", "/sitemap.json")


def answered(port: int, path: str) -> str:
    """What comes of a request: the text, or the code of a refusal."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE_S) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return str(error.code)
