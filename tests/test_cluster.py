"""A sweep on a Dask cluster: the same run as on one computer, whatever happens to workers, scheduler and client. The
trials here measure nothing; workers and scheduler are processes with homes of their own.
"""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cluster_stub import FOLDER
from clusters import STUB, Processes, processes
from patience import wait_for
from runs import files_of, make_result, make_trials, write_result
from test_sweep import UNTIL, Silent, in_run_order

from testbed.error import MachineError, UserError
from testbed.kernel.parcel import Parcel, packed
from testbed.model.run_setting import LAB, Until
from testbed.model.scenario import Trial
from testbed.sweep import audit as auditing
from testbed.sweep import run as sweep
from testbed.sweep.cluster import dispatcher, place, task
from testbed.sweep.cluster.arrival import Expected
from testbed.sweep.cluster.kernel_parcel import KernelId
from testbed.sweep.cluster.outfit import Outfit
from testbed.sweep.cluster.pool import ClusterLost
from testbed.sweep.cluster.spool import Spool
from testbed.sweep.store import Store
from testbed.trial import software
from testbed.trial.folder import write_json

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("cluster")]

KERNEL = KernelId("stub", "", "")
STUB_SAYS = {"stub": True}


@dataclass
class Campaign:
    """Runs sweeps of trials that measure nothing. `notes` is where the workers read what to do, and write what began;
    what they keep for us is named after `name`.
    """

    cluster: Processes
    notes: Path
    folder: Path
    name: str
    notices: list[str] = field(default_factory=list)
    any_worker: bool = False

    def say(self, trial: Trial, *words: str) -> None:
        """What a trial does."""
        (self.notes / trial.id).write_text(" ".join(words))

    def began(self) -> Counter[str]:
        """How often each trial began."""
        path = self.notes / "began"
        return Counter(line.split()[0] for line in path.read_text().splitlines()) if path.exists() else Counter()

    def outfit(self, *_: object) -> Outfit:
        return Outfit(software.here(), self.any_worker, {}, {LAB: Expected(KERNEL, STUB_SAYS)}, self.name)

    def prepared(self, trials: list[Trial], until: Until | None = None) -> sweep.Sweep:
        store = Store(self.folder)
        found = sweep.prepare(trials, store, in_run_order(trials), until, here=False)
        store.create("made", {}, found.ids, [key for key, _ in trials[0].params], until)
        return found

    def run(self, trials: list[Trial], report: Silent | None = None, until: Until | None = None) -> sweep.Summary:
        where = place.Cluster(place.where(self.cluster.address), self.any_worker, self.notices.append)
        return sweep.run(self.prepared(trials, until), 1, report or Silent(), where)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """A scheduler and two workers of one core, for tests that do not kill them."""
    folder = tmp_path_factory.mktemp("cluster")
    (folder / "notes").mkdir()
    with processes(folder, **{FOLDER: str(folder / "notes")}) as cluster:
        cluster.start_scheduler()
        for name in ("alice", "bob"):
            cluster.start_worker(name, "--preload", str(STUB))
        cluster.wait(2)
        yield cluster


@pytest.fixture(autouse=True)
def _stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of this computer is asked."""
    monkeypatch.setattr(sweep.readiness, "check", lambda trial, made: None)


@pytest.fixture
def campaign(shared: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    return _campaign(shared, tmp_path, monkeypatch)


def _campaign(cluster: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    notes = cluster.folder / "notes"
    for path in notes.iterdir():
        path.unlink()
    made = Campaign(cluster, notes, tmp_path / "out", str(tmp_path))
    monkeypatch.setattr(place, "outfit", made.outfit)
    return made


def here(path: Path, trials: list[Trial], monkeypatch: pytest.MonkeyPatch, until: Until | None = None) -> None:
    """The same run on this computer."""

    def run(trial: Trial, made: object, folder: Path, **options: object) -> object:
        write_json(folder / "provenance.json", STUB_SAYS)
        result = make_result(trial, wall_s=0.01)
        write_result(folder, trial, result)
        return result

    monkeypatch.setattr(sweep.runner, "run", run)
    store = Store(path)
    prepared = sweep.prepare(trials, store, in_run_order(trials), until)
    store.create("made", {}, prepared.ids, [key for key, _ in trials[0].params], until)
    sweep.run(prepared, 2, Silent())


def test_a_run_on_a_cluster_leaves_the_files_of_a_run_here(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = make_trials(["10 ms", "20 ms", "40 ms"], 8)
    summary = campaign.run(trials)
    here(tmp_path / "here", trials, monkeypatch)
    assert len(summary.results) == 24
    assert not summary.failures
    assert files_of(tmp_path / "out") == files_of(tmp_path / "here")
    assert set(campaign.began().values()) == {1}


def test_adaptive_repetitions_make_the_same_run_as_here(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = make_trials(["10 ms", "20 ms"], 8)
    campaign.run(trials, until=UNTIL)
    here(tmp_path / "here", trials, monkeypatch, UNTIL)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "here")


def test_what_is_stored_is_not_measured_again(campaign: Campaign) -> None:
    trials = make_trials(repetitions=3)
    campaign.run([trial for trial in trials if trial.repetition < 2])
    before = campaign.began()
    summary = campaign.run(trials)
    assert len(summary.results) == 6
    assert {id for id in campaign.began() - before} == {trial.id for trial in trials if trial.repetition == 2}


def test_a_report_hears_of_a_trial_as_it_does_here(campaign: Campaign) -> None:
    class Report(Silent):
        def __init__(self) -> None:
            super().__init__()
            self.heard: list[tuple[str, str]] = []

        def begun(self, trial: Trial) -> None:
            self.heard.append(("begun", trial.id))

        def lab_time(self, trial: Trial, lab_s: float) -> None:
            assert ("begun", trial.id) in self.heard

        def finished(self, trial: Trial, result: object) -> None:
            self.heard.append(("finished", trial.id))

    report, trials = Report(), make_trials(["10 ms"], 4)
    for trial in trials:
        campaign.say(trial, "0.3")
    campaign.run(trials, report)
    assert Counter(report.heard) == Counter((what, trial.id) for trial in trials for what in ("begun", "finished"))


def test_a_trial_that_fails_fails_once_and_the_others_go_on(campaign: Campaign) -> None:
    trials = make_trials(["10 ms", "20 ms"], 2)
    campaign.say(trials[1], "fail")
    report = Silent()
    summary = campaign.run(trials, report)
    assert report.failures == [trials[1].id]
    assert len(summary.results) == 3
    assert campaign.began()[trials[1].id] == 1
    assert Store(campaign.folder).failures() == {trials[1].id: "the guest died before the trial was over"}
    assert (campaign.folder / "failed" / trials[1].id / "error.txt").exists()


def test_a_mistake_of_ours_on_a_worker_is_told_and_not_lost(campaign: Campaign) -> None:
    trials = make_trials(["10 ms"], 3)
    campaign.say(trials[0], "bug")
    summary = campaign.run(trials)
    ((failed, error),) = summary.failures
    assert failed == trials[0]
    assert "BUG: never" in str(error)
    assert len(summary.results) == 2


def test_a_worker_with_other_software_is_refused_and_told_by_name(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = software.here()
    monkeypatch.setattr(software, "here", lambda: {**own, "python": "3.99.0"})
    with pytest.raises(ClusterLost, match=r"python 3\.\d+\.\d+ \w+ instead of 3\.99\.0") as raised:
        campaign.run(make_trials())
    assert raised.value.exit_code == 3
    assert sum("gets no trials: its results could differ: python" in said for said in campaign.notices) == 2
    assert not campaign.began()


def test_a_worker_with_other_software_is_used_if_any_will_do(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = software.here()
    monkeypatch.setattr(software, "here", lambda: {**own, "python": "3.99.0"})
    campaign.any_worker = True
    assert len(campaign.run(make_trials()).results) == 4


def test_a_result_of_other_software_than_the_worker_said_is_none(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[__name__], "STUB_SAYS", {"stub": False})
    summary = campaign.run(make_trials(["10 ms"], 1))
    assert not summary.results
    assert "measured with other software than it said" in str(summary.failures[0][1])


def test_a_result_that_was_kept_is_fetched_before_anything_is_measured(campaign: Campaign, tmp_path: Path) -> None:
    trials = make_trials(["10 ms"], 3)
    (tmp_path / "kept").mkdir()
    write_json(tmp_path / "kept/provenance.json", STUB_SAYS)
    write_result(tmp_path / "kept", trials[0], make_result(trials[0]))
    key = task.task_of(trials[0], KERNEL, campaign.outfit().digest).key
    spool = Spool(campaign.cluster.folder / "bob/cache/testbed/cluster-results")
    spool.keep(key, packed(tmp_path / "kept"))
    summary = campaign.run(trials)
    assert len(summary.results) == 3
    assert trials[0].id not in campaign.began()
    wait_for(lambda: key not in spool.held())


def test_what_was_kept_and_is_damaged_is_measured(campaign: Campaign) -> None:
    trials = make_trials(["10 ms"], 1)
    key = task.task_of(trials[0], KERNEL, campaign.outfit().digest).key
    Spool(campaign.cluster.folder / "alice/cache/testbed/cluster-results").keep(key, Parcel(b"half", "0" * 64))
    summary = campaign.run(trials)
    assert len(summary.results) == 1


def audited(campaign: Campaign, size: int) -> auditing.Audit:
    where = place.Cluster(place.where(campaign.cluster.address), False, campaign.notices.append, is_fresh=True)
    return auditing.audit(Store(campaign.folder), size, 1, lambda prepared: sweep.run(prepared, 1, Silent(), where))


def test_an_audit_measures_on_the_cluster_whatever_workers_have_kept(campaign: Campaign, tmp_path: Path) -> None:
    """What a worker kept is a copy of what is to be checked, or anything else."""
    trials = make_trials(["10 ms", "20 ms"], 3)
    campaign.run(trials)
    before = files_of(campaign.folder / "trials")
    spool = Spool(campaign.cluster.folder / "bob/cache/testbed/cluster-results")
    for trial in trials:
        kept = tmp_path / "kept" / trial.id
        kept.mkdir(parents=True)
        write_json(kept / "provenance.json", STUB_SAYS)
        write_result(kept, trial, make_result(trial, goodput_bps=5e9))
        spool.keep(task.task_of(trial, KERNEL, campaign.outfit().digest).key, packed(kept))
    found = audited(campaign, 4)
    assert (found.verdict, len(found.trials)) == ("same", 4)
    again = [id for id, count in campaign.began().items() if count == 2]
    assert sorted(again) == sorted(each.id for each in found.trials)
    assert files_of(campaign.folder / "trials") == before
    assert auditing.latest(campaign.folder) == found
    assert not Store(campaign.folder).partials()
    spool.drop(spool.held())


def test_an_audit_on_a_cluster_tells_what_differs_and_what_was_not_repeated(campaign: Campaign) -> None:
    trials = make_trials(["10 ms", "20 ms"], 2)
    campaign.run(trials)
    (campaign.folder / "trials" / trials[0].id / "plan.sh").write_text("true\n")
    campaign.say(trials[1], "fail")
    campaign.say(trials[2], "bug")
    found = audited(campaign, 9)
    told = {each.id: (each.outcome, each.files) for each in found.trials}
    assert told == {
        trials[0].id: ("different", ("plan.sh",)),
        trials[1].id: ("not repeated", ()),
        trials[2].id: ("not repeated", ()),
        trials[3].id: ("same", ()),
    }
    assert found.verdict == "different"
    assert "BUG: never" in (found.trials[2].why or "")


def test_nothing_is_kept_of_what_was_stored(campaign: Campaign) -> None:
    campaign.run(make_trials(["10 ms"], 4))
    folders = [campaign.cluster.folder / name / "cache/testbed/cluster-results" for name in ("alice", "bob")]
    wait_for(lambda: not [key for folder in folders for key in Spool(folder).held()])


def test_a_trial_that_takes_too_long_is_ended_and_its_worker_gets_no_others(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatcher, "PATIENCE", 0.0)
    monkeypatch.setattr(dispatcher, "PATIENCE_S", 20.0)  # the others take far less, on a busy computer too
    trials = make_trials(["10 ms"], 3)
    campaign.say(trials[0], "once", "hang")
    summary = campaign.run(trials)
    assert len(summary.results) == 3
    assert campaign.began()[trials[0].id] == 2
    assert any("a trial took more than 20 s on it" in said for said in campaign.notices)


def test_a_worker_whose_computer_lacks_something_gets_no_more_and_its_trial_runs_elsewhere(campaign: Campaign) -> None:
    trials = make_trials(["10 ms"], 4)
    campaign.say(trials[0], "once", "disk")
    summary = campaign.run(trials)
    assert len(summary.results) == 4
    assert campaign.began()[trials[0].id] == 2
    assert any("No space left on device" in said for said in campaign.notices)


def test_if_every_computer_lacks_something_the_run_says_so(campaign: Campaign) -> None:
    trials = make_trials(["10 ms"], 8)
    for trial in trials:
        campaign.say(trial, "lack")
    with pytest.raises(ClusterLost, match=r"no worker can take trials: .*the program 'tc' is missing") as raised:
        campaign.run(trials)
    assert raised.value.exit_code == 3


def test_no_more_is_handed_out_than_a_few_trials_for_each_core(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = []
    own = dispatcher.Dispatcher._measured

    async def counted(self: dispatcher.Dispatcher, trial: Trial) -> object:
        most.append(len(self._flights) + 1)
        return await own(self, trial)

    monkeypatch.setattr(dispatcher.Dispatcher, "_measured", counted)
    campaign.run(make_trials(["10 ms", "20 ms"], 15))
    assert len(most) == 30
    assert 2 < max(most) <= 4


def test_trials_that_need_more_than_half_of_a_worker_do_not_meet_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of three cores with room for two and a half small trials, or one and a half large ones."""
    small, large = make_trials(["10 ms"], 4), make_trials(["20 ms"], 4)
    need = 1 << 30
    (tmp_path / "c/notes").mkdir(parents=True)
    with processes(tmp_path / "c", **{FOLDER: str(tmp_path / "c/notes")}) as cluster:
        cluster.start_scheduler()
        cluster.start_worker("big", "--preload", str(STUB), "--nthreads", "3", "--resources", f"memory={2.5 * need}")
        cluster.wait(1)
        campaign = _campaign(cluster, tmp_path, monkeypatch)
        for trial in small:
            campaign.say(trial, "meet", "0.5")
        for trial in large:
            campaign.say(trial, "0.5")
        where = place.Cluster(place.where(cluster.address), False, campaign.notices.append)
        prepared = campaign.prepared([*small, *large])
        needs = {small[0].params: need, large[0].params: int(1.6 * need)}
        summary = sweep.run(dataclasses.replace(prepared, needs=needs), 1, Silent(), where)
        assert len(summary.results) == 8
        spans = {id: (_times(campaign, "began")[id], _times(campaign, "ended")[id]) for id in _times(campaign, "began")}
    together = [
        {other for other, (a, b) in spans.items() if a <= at < b} for at in (begin for begin, _ in spans.values())
    ]
    big, little = {trial.id for trial in large}, {trial.id for trial in small}
    assert all(len(each & big) <= 1 for each in together)
    assert all(len(each) == 1 for each in together if each & big)
    assert max(len(each & little) for each in together) == 2


def _times(campaign: Campaign, what: str) -> dict[str, float]:
    lines = [line.split() for line in (campaign.notes / what).read_text().splitlines()]
    return {id: float(at) for id, _, at in lines}


def test_a_trial_that_fits_no_worker_fails_and_says_by_how_much(campaign: Campaign) -> None:
    trials = make_trials(["10 ms"], 2)
    where = place.Cluster(place.where(campaign.cluster.address), False, campaign.notices.append)
    prepared = dataclasses.replace(campaign.prepared(trials), needs={trials[0].params: 1 << 60})
    summary = sweep.run(prepared, 1, Silent(), where)
    assert len(summary.failures) == 2
    assert "MiB, and the largest worker has" in str(summary.failures[0][1])


@pytest.mark.parametrize("kernel", ["host", "lab-realtime"])
def test_what_needs_this_computer_is_refused(kernel: str) -> None:
    (trial,) = make_trials(["10 ms"], 1, [kernel])
    with pytest.raises(UserError, match=f"cannot run on a cluster: its kernel is {kernel}.*allowed: .* without --on"):
        place.Cluster(place.where("local:1"), False, print).check([trial])


@pytest.mark.parametrize(
    "text", ["", "local", "local:0", "local:-1", "local:x", "host:8786", "http://x", "tcp://", "x.json"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="allowed: tcp://HOST:8786"):
        place.where(text)


def test_a_scheduler_that_does_not_answer_is_told_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "CONNECT_S", 1.0)
    with pytest.raises(MachineError, match=r"scheduler tcp://127.0.0.1:9 does not answer"):
        place.Cluster(place.where("tcp://127.0.0.1:9"), False, print).check(make_trials())


def test_a_scheduler_file_leads_to_the_scheduler(campaign: Campaign) -> None:
    where = place.Cluster(place.where(str(campaign.cluster.folder / "scheduler.json")), False, campaign.notices.append)
    trials = make_trials()
    where.check(trials)
    assert where.width() == 2
    assert len(sweep.run(campaign.prepared(trials), 1, Silent(), where).results) == 4
