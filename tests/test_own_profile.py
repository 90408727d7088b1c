"""A profile of one's own: made from a run or by hand, checked, compared, and shown in the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from comparing import Said, said_by
from storedruns import Made, write_run

from testbed.compare import published

ROOT = Path(__file__).parents[1]
RATE_BPS = 100e6
Command = Callable[..., Said]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `testbed` in this process: exit code, output, errors."""
    return partial(said_by, capsys)


def made(factor: float = 1.0, seeds: int = 5, verdict: str = "valid", **params: str) -> list[Made]:
    levels = {"10 ms": 90e6, "100 ms": 40e6}
    return [
        Made(
            {"path.rtt": rtt, **params},
            [factor * level * (1 + 0.004 * (seed - (seeds + 1) / 2))],
            seed,
            verdict,
            path={"buffer": "1 bdp"},
        )
        for rtt, level in levels.items()
        for seed in range(1, seeds + 1)
    ]


@pytest.fixture
def own(command: Command, tmp_path: Path) -> Path:
    code, out, _ = command("results", write_run(tmp_path / "Base run", made()), "--format", "profile")
    assert code == 0
    path = tmp_path / "own.yaml"
    path.write_text(out)
    return path


def test_a_run_as_a_profile_states_its_conditions_and_its_spread(own: Path) -> None:
    found = published.load(own)
    (series,) = found.series.values()
    assert found.name == "base-run"
    assert series.of == {
        "congestion": "cubic", "flows": "1", "loss": "none", "window": "auto", "buffer": "1 bdp", "duration": "10 s",
    }  # fmt: skip
    assert series.capacity is not None
    assert series.capacity.value == RATE_BPS
    first, second = series.references().values()
    assert (first.mean.value, second.mean.value) == pytest.approx((90e6, 40e6))
    assert first.mean.error == pytest.approx(90e6 * 0.004 * (2.5 / 5) ** 0.5)  # the sd of 1 to 5 is sqrt(2.5)
    assert first.mean.freedom == 4
    assert first.share_off < 1e-7


def test_it_is_checked_and_the_run_agrees_with_itself_and_another_does_not(
    command: Command, own: Path, tmp_path: Path
) -> None:
    code, out, _ = command("check", own)
    assert (code, out) == (0, f"{own}: fine, 0 facts, 1 series, 2 points\n")
    code, out, _ = command("compare", tmp_path / "Base run", own, "--format", "json")
    (match,) = json.loads(out)["series"][0]["matches"]
    assert (code, match["verdict"], match["claim"]) == (0, "agree", "reproduced")
    assert match["rms"]["value"] == pytest.approx(0, abs=1e-6)
    assert match["shape"]["c_uc"]["value"] == pytest.approx(0, abs=1e-6)
    other = write_run(tmp_path / "other", made(0.7))
    assert command("compare", other, f"{own}#all")[0] == 1


def test_one_trial_as_a_profile_is_no_certainty(command: Command, tmp_path: Path) -> None:
    out = command("results", write_run(tmp_path / "one", made(seeds=1)), "--format", "profile")[1]
    (tmp_path / "one.yaml").write_text(out)
    assert out.count("runs: 1}") == 2
    assert "sd:" not in out
    assert command("compare", write_run(tmp_path / "many", made()), tmp_path / "one.yaml")[0] == 5


def test_every_series_of_a_run_has_a_name_of_its_own_and_lost_ones_none(command: Command, tmp_path: Path) -> None:
    trials = [*made(window="1 MiB"), *made(window="1-MiB"), *made(verdict="invalid", window="9 MiB")]
    code, out, _ = command("results", write_run(tmp_path / "run", trials), "--format", "profile")
    (tmp_path / "run.yaml").write_text(out)
    assert code == 1  # as for any output: trials are invalid
    assert list(published.load(tmp_path / "run.yaml").series) == ["window-1-mib", "window-1-mib-2"]


def test_a_run_without_any_goodput_is_no_profile_and_options_of_tables_are_refused(
    command: Command, tmp_path: Path
) -> None:
    folder = write_run(tmp_path / "run", made(verdict="invalid"))
    code, _, err = command("results", folder, "--format", "profile")
    assert code == 2
    assert "run has no valid or suspect trial with a goodput" in err
    assert command("results", folder, "--format", "profile", "--by", "cell")[0] == 2


EXAMPLE = (ROOT / "docs/published-profiles.md").read_text().split("```yaml")[2].split("```")[0]


@pytest.mark.parametrize(
    ("right", "wrong", "line", "words"),
    [
        ("at: 10 ms", "at: 10", 14, "'10' has no unit"),
        ("sd: 2.1 Mbit/s, runs: 5", "runs: 5", 14, "one run has no sd, and several have one"),
        ("sd: 2.1 Mbit/s, runs: 5", "sd: 2.1 Mbit/s, runs: 1", 14, "one run has no sd, and several have one"),
        ("sd: 2.1 Mbit/s, runs: 5", "plus_minus: 3 ms", 14, "'3 ms' is no distance"),
        ("sd: 2.1 Mbit/s, runs: 5", "plus_minus: -3 %", 14, "'-3 %' is no distance"),
        ("loss: none", "loss: some", 7, "loss"),
        ("flows: 1,", "flows: one,", 7, "'one' is no number of flows"),
        ("window: auto", "window: 64", 7, "64"),
        ("buffer: 1 bdp", "buffer: 1 bpd", 7, "1 bpd"),
        ("duration: 30 s", "duration: long", 7, "long"),
        ("points:", "pionts:", 13, "did you mean 'points'"),
    ],
)
def test_a_mistake_in_a_profile_is_named_with_its_line(
    command: Command, tmp_path: Path, right: str, wrong: str, line: int, words: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(EXAMPLE.lstrip())
    assert command("check", path)[0] == 0
    assert right in EXAMPLE
    path.write_text(EXAMPLE.lstrip().replace(right, wrong, 1))
    code, out, _ = command("check", path)
    assert code == 2
    assert f"{path}:{line}: " in out
    assert words in out


def test_profiles_that_come_with_the_testbed_are_checked_by_name(command: Command) -> None:
    code, out, _ = command("check", *published.names())
    assert code == 0
    assert out.count(": fine, ") == len(published.names())
    code, out, _ = command("schema", "profile")
    assert code == 0
    assert "series" in json.loads(out)["properties"]


def test_the_report_shows_an_own_profile_and_refuses_one_that_has_nothing_in_common(
    command: Command, own: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert command("report", tmp_path / "Base run", "--profile", own, "-o", page)[0] == 0
    assert "Comparison with base-run" not in page.read_text()  # made by the page
    assert '"name":"base-run"' in page.read_text().replace(" ", "")
    assert "overall: agrees (1 published series" in page.read_text()
    code, _, err = command("report", tmp_path / "Base run", "--profile", "google-cloud-emulated", "-o", page)
    assert code == 2
    assert "nothing of this run can be compared with google-cloud-emulated" in err


def test_doubts_about_the_trials_of_a_series_are_noted(command: Command, tmp_path: Path) -> None:
    trials = made(seeds=2)
    trials[0], trials[2] = replace(trials[0], verdict="suspect"), replace(trials[2], verdict="invalid")
    out = command("results", write_run(tmp_path / "run", trials), "--format", "profile")[1]
    assert 'note: "1 trial suspect; 1 trial invalid and left out"' in out
    points = [line.strip() for line in out.splitlines() if "{at:" in line]
    assert points == [
        "- {at: 10 ms, value: 90.000000 Mbit/s, sd: 0.254558 Mbit/s, runs: 2}",  # 90 * 0.004 / sqrt(2)
        "- {at: 100 ms, value: 40.080000 Mbit/s, runs: 1}",
    ]
    assert "note:" not in command("results", write_run(tmp_path / "fine", made()), "--format", "profile")[1]


def lossy(*losses: str, rtts: Sequence[str] = ("10 ms",)) -> list[Made]:
    return [
        Made({"path.rtt": rtt, "path.loss": loss}, [9e7 / number * (1 + seed / 100)], seed, path={"loss": loss})
        for number, loss in enumerate(losses, 1)
        for rtt in rtts
        for seed in (1, 2, 3)
    ]


def test_a_profile_says_whether_its_loss_is_random(command: Command, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", lossy("none", "1 in 1000", "0.1 %", rtts=("10 ms", "20 ms")))
    (tmp_path / "run.yaml").write_text(command("results", run, "--format", "profile")[1])
    found = published.load(tmp_path / "run.yaml").series.values()
    assert [each.of["loss"] for each in found] == ["none", "1 in 1000", "random 0.1 %"]
    periodic = write_run(tmp_path / "periodic", lossy("1 in 1000", rtts=("10 ms", "20 ms")))
    _, out, _ = command("compare", periodic, tmp_path / "run.yaml", "--format", "json")
    fits = {each["of"]["loss"]: each["matches"][0]["fits"] for each in json.loads(out)["series"]}
    assert fits == {"none": False, "1 in 1000": True, "random 0.1 %": False}
    assert any("ours has loss 1 in 1000, published random 0.1 %" in note for note in json.loads(out)["notes"])


@pytest.mark.parametrize(
    ("losses", "way"), [(("none", "1 in 1000", "1 in 100"), "periodic"), (("none", "0.1 %", "1 %"), "random")]
)
def test_a_series_over_loss_says_how_it_is_lost(
    command: Command, tmp_path: Path, losses: Sequence[str], way: str
) -> None:
    run = write_run(tmp_path / "run", lossy(*losses))
    path = tmp_path / "run.yaml"
    path.write_text(command("results", run, "--format", "profile")[1])
    (series,) = published.load(path).series.values()
    assert (series.over, series.of["loss"]) == ("loss", way)
    assert command("check", path)[0] == 0
    found = json.loads(command("compare", run, path, "--format", "json")[1])
    assert all(each["matches"][0]["fits"] for each in found["series"])
    assert len(found["series"]) == 3
    path.write_text(path.read_text().replace(way, {"random": "periodic", "periodic": "random"}[way]))
    found = json.loads(command("compare", run, path, "--format", "json")[1])
    assert len(found["series"]) == 1  # none is as before
    path.write_text(path.read_text().replace('loss: "', 'loss: "often '))
    assert "or how all of it is lost: periodic, random" in command("check", path)[1]


def test_periodic_and_random_losses_make_no_series_over_loss(command: Command, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", lossy("none", "1 in 100", "0.1 %"))
    (tmp_path / "run.yaml").write_text(command("results", run, "--format", "profile")[1])
    assert {each.over for each in published.load(tmp_path / "run.yaml").series.values()} == {"rtt"}
