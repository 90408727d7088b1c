"""A cluster on which workers, the scheduler and the client of a run are killed: nothing is lost, nothing doubled, and
nothing is left behind. The trials here measure nothing; the processes that are killed are real.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from cluster_stub import FOLDER
from clusters import STUB, TESTS, Processes, processes
from patience import PATIENCE_S, wait_for
from runs import make_trials
from test_cluster import Campaign, _campaign, _stub  # noqa: F401  (a fixture)
from test_sweep import Silent

from testbed.sweep.cluster import dispatcher, pool
from testbed.sweep.cluster.pool import ClusterLost
from testbed.sweep.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

WORKER = ("--preload", str(STUB))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Processes]:
    (tmp_path / "cluster/notes").mkdir(parents=True)
    with processes(tmp_path / "cluster", **{FOLDER: str(tmp_path / "cluster/notes")}) as made:
        made.start_scheduler()
        yield made


@pytest.fixture
def campaign(cluster: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    return _campaign(cluster, tmp_path, monkeypatch)


def test_a_trial_whose_worker_is_killed_runs_elsewhere_and_is_once_in_the_results(
    cluster: Processes, campaign: Campaign
) -> None:
    for name in ("alice", "bob"):
        cluster.start_worker(name, *WORKER)
    cluster.wait(2)
    trials = make_trials(["10 ms", "20 ms"], 3)
    campaign.say(trials[0], "once", "kill")
    summary = campaign.run(trials)
    assert sorted(each.id for each in summary.results) == sorted(trial.id for trial in trials)
    assert campaign.began()[trials[0].id] == 2
    assert any(f"{trials[0].id}: " in said and "the worker died" in said for said in campaign.notices)


@pytest.mark.nightly
def test_a_trial_that_kills_three_workers_fails_and_says_so(cluster: Processes, campaign: Campaign) -> None:
    for number in range(4):
        cluster.start_worker(f"w{number}", *WORKER)
    cluster.wait(4)
    trials = make_trials(["10 ms", "20 ms"], 3)
    campaign.say(trials[0], "kill")
    report = Silent()
    summary = campaign.run(trials, report)
    assert report.failures == [trials[0].id]
    assert len(summary.results) == 5
    assert sum(each.poll() is not None for each in cluster.workers.values()) == 3
    assert str(summary.failures[0][1]).startswith("3 workers did not end it: ")
    assert str(summary.failures[0][1]).count("the worker died") == 3


@pytest.mark.nightly
def test_workers_that_come_later_get_the_trials_of_those_that_died(cluster: Processes, campaign: Campaign) -> None:
    """For a while nobody can take what was handed out, and Dask does not look again by itself."""
    cluster.start_worker("first", *WORKER)
    cluster.wait(1)
    trials = make_trials(["10 ms", "20 ms"], 3)
    campaign.say(trials[0], "once", "kill")

    def later() -> None:
        wait_for(lambda: campaign.began().total() > 0)
        wait_for(lambda: cluster.workers["first"].poll() is not None)
        cluster.start_worker("second", *WORKER)

    thread = threading.Thread(target=later)
    thread.start()
    summary = campaign.run(trials)
    thread.join()
    assert len(summary.results) == 6


@pytest.mark.nightly
def test_twenty_killed_workers_lose_nothing_and_double_nothing(cluster: Processes, campaign: Campaign) -> None:
    """The killer takes a worker at random, again and again, and another one comes for it."""
    for number in range(3):
        cluster.start_worker(f"w{number}", *WORKER)
    cluster.wait(3)
    trials = make_trials([f"{10 + number} ms" for number in range(20)], 6)
    for trial in trials:
        campaign.say(trial, "0.3")
    ended, chance = threading.Event(), random.Random(1)
    kills: list[str] = []

    def killer() -> None:
        while len(kills) < 20 and not ended.wait(chance.uniform(0.2, 1.0)):
            name = chance.choice(sorted(cluster.workers))
            cluster.kill(name)
            kills.append(name)
            cluster.start_worker(f"w{len(kills) + 2}", *WORKER)

    thread = threading.Thread(target=killer)
    thread.start()
    summary = campaign.run(trials)
    ended.set()
    thread.join()
    found = Store(campaign.folder)
    troubled = {trial.id for trial, error in summary.failures if "3 workers did not end it" in str(error)}
    assert len(kills) > 5
    assert sorted([*(each.id for each in summary.results), *troubled]) == sorted(trial.id for trial in trials)
    assert len(found.results()) == len(summary.results) > 110
    assert not found.partials()
    again = campaign.run(trials)  # what three killed workers took with them
    assert sorted(each.id for each in again.results) == sorted(trial.id for trial in trials)


@pytest.mark.nightly
def test_a_scheduler_that_dies_ends_the_run_and_the_next_one_goes_on(
    cluster: Processes, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "RETURN_S", 2.0)
    cluster.start_worker("alice", *WORKER)
    cluster.wait(1)
    trials = make_trials(["10 ms", "20 ms"], 4)
    for trial in trials:
        campaign.say(trial, "1")

    def later() -> None:
        wait_for(lambda: campaign.began().total() > 3)
        cluster.kill_scheduler()

    thread = threading.Thread(target=later)
    thread.start()
    with pytest.raises(ClusterLost, match="the Dask scheduler does not answer any more") as raised:
        campaign.run(trials)
    thread.join()
    assert raised.value.exit_code == 3
    stored = {each.id for each in Store(campaign.folder).results()}
    assert 0 < len(stored) < 8
    assert not Store(campaign.folder).partials()
    cluster.start_scheduler()
    cluster.start_worker("alice", *WORKER)
    before = campaign.began()
    summary = campaign.run(trials)
    assert len(summary.results) == 8
    assert not stored & set(campaign.began() - before)


HEARS = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""Who started the tests in the background may have made them deaf to it, and what they start."""

CLIENT = """
import sys
from pathlib import Path
sys.path[:0] = {path!r}
import test_cluster
from testbed.sweep import run as sweep
from testbed.sweep.cluster import place
from runs import make_trials
import signal, testbed.cli
signal.signal(signal.SIGTERM, testbed.cli._interrupt)
sweep.readiness.check = lambda trial, made: None
class At:
    address = {address!r}
campaign = test_cluster.Campaign(At, Path({notes!r}), Path({folder!r}), {name!r}, any_worker={is_local})
place.outfit = campaign.outfit
campaign.run(make_trials(["10 ms"], 6))
"""


def client(campaign: Campaign, address: str) -> subprocess.Popen[bytes]:
    """The same run as that of the campaign, in a process that can be killed."""
    text = CLIENT.format(
        path=[str(TESTS.parent), str(TESTS)],
        address=address,
        notes=str(campaign.notes),
        folder=str(campaign.folder),
        name=campaign.name,
        is_local=False,
    )
    script = campaign.notes.parent / "client.py"
    script.write_text(HEARS + "if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in text.splitlines()))
    environment = {**os.environ, FOLDER: str(campaign.notes), "DASK_DISTRIBUTED__WORKER__PRELOAD": str(STUB)}
    code = os.pathsep.join([str(TESTS.parent), str(TESTS)])
    with (campaign.notes.parent / "client.log").open("wb") as log:
        return subprocess.Popen(
            (sys.executable, str(script)),
            stdout=log,
            stderr=log,
            env={**environment, "PYTHONPATH": code},
            start_new_session=True,
        )


@pytest.mark.nightly
def test_a_client_that_was_killed_comes_back_to_what_went_on_without_it(cluster: Processes, campaign: Campaign) -> None:
    cluster.start_worker("alice", *WORKER)
    cluster.wait(1)
    trials = make_trials(["10 ms"], 6)
    for trial in trials:
        campaign.say(trial, "1")
    killed = client(campaign, cluster.address)
    wait_for(lambda: campaign.began().total() >= 2)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    wait_for(lambda: len((campaign.notes / "ended").read_text().splitlines()) >= dispatcher.AHEAD)
    began = campaign.began()
    summary = campaign.run(trials)
    assert len(summary.results) == 6
    assert set(campaign.began().values()) == {1}, "what went on while the client was away was measured again"
    assert began.total() < 6


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda how: how.name)
def test_workers_that_a_run_started_end_with_it_however_it_ends(
    cluster: Processes, campaign: Campaign, how: signal.Signals
) -> None:
    for trial in make_trials(["10 ms"], 6):
        campaign.say(trial, "hang")
    running = client(campaign, "local:2")
    wait_for(lambda: campaign.began().total() >= 2)
    mine = descendants(running.pid)
    try:
        assert len(mine) >= 2
        os.kill(running.pid, how) if how is not signal.SIGINT else os.killpg(running.pid, how)
        running.wait(PATIENCE_S)
    finally:
        running.kill()
    wait_for(lambda: not [pid for pid in mine if is_alive(pid)])
    assert not Store(campaign.folder).results()
    assert how is signal.SIGKILL or not Store(campaign.folder).partials()


def descendants(pid: int) -> list[int]:
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has ended meanwhile
            for child in children.read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_ctrl_c_ends_what_runs_on_the_workers(cluster: Processes, campaign: Campaign) -> None:
    cluster.start_worker("alice", *WORKER)
    cluster.wait(1)
    trials = make_trials(["10 ms"], 6)
    for trial in trials:
        campaign.say(trial, "hang")
    running = client(campaign, cluster.address)
    wait_for(lambda: campaign.began().total() >= 1)
    time.sleep(0.5)
    os.kill(running.pid, signal.SIGINT)
    running.wait(PATIENCE_S)
    for trial in trials:
        campaign.say(trial, "0.01")
    summary = campaign.run(trials)  # which the only core could not, if anything still hung there
    assert len(summary.results) == 6


@pytest.mark.nightly
def test_a_worker_that_stands_still_is_left_for_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is there, and does nothing: not even say that it lives. Dask waits 5 min, and here 15 s."""
    monkeypatch.setattr(pool, "ANSWER_S", 5.0)
    (tmp_path / "cluster/notes").mkdir(parents=True)
    environment = {FOLDER: str(tmp_path / "cluster/notes"), "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "15s"}
    with processes(tmp_path / "cluster", **environment) as cluster:
        cluster.start_scheduler()
        for name in ("alice", "bob"):
            cluster.start_worker(name, *WORKER)
        cluster.wait(2)
        campaign = _campaign(cluster, tmp_path, monkeypatch)
        trials = make_trials(["10 ms"], 4)
        for trial in trials:
            campaign.say(trial, "0.5")

        def later() -> None:
            wait_for(lambda: campaign.began().total() >= 2)
            os.kill(cluster.workers["alice"].pid, signal.SIGSTOP)

        thread = threading.Thread(target=later)
        thread.start()
        summary = campaign.run(trials)
        thread.join()
    assert sorted(each.id for each in summary.results) == sorted(trial.id for trial in trials)
