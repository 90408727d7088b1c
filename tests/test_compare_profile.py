"""`testbed compare` with a published or an own profile: what is shown to agree, to differ, or neither."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from comparing import Compare
from storedruns import Made, write_run

from testbed.compare import published
from testbed.compare.loss import asked as lost
from testbed.compare.loss import read as read_loss
from testbed.error import SpecError, ValueRefused
from testbed.model.link.impairment import GilbertElliott, PeriodicLoss, RandomLoss
from testbed.report.stored_run import read
from testbed.report.view import view

ROOT = Path(__file__).parents[1]
RATE_BPS = 10e9
AGREE, DIFFER, CANNOT_TELL = 0, 1, 5
DRAWN = {"jitter": "1 us"}
"""Of a path: something is random, so that a trial is not exact."""
NOISE = {1: (0.0,), 2: (-1.0, 1.0), 3: (-1.0, 0.0, 1.0), 5: (-1.3, -0.5, 0.0, 0.5, 1.3)}
"""Noise by the number of seeds, with a mean of 0."""


def run_of(
    folder: Path,
    mbit: Mapping[int, float],
    params: Mapping[str, str] | None = None,
    seeds: int = 5,
    noise: float = 0.01,
    rate_bps: float = RATE_BPS,
    **asked: Any,
) -> list[Made]:
    """Trials with these goodputs in Mbit/s by RTT in ms, and a relative noise."""
    path = {"rate": f"{rate_bps / 1e6:.0f} Mbit/s", "buffer": "1 bdp", **asked.pop("path", {})}
    return [
        Made(
            {"path.rtt": f"{rtt} ms", **(params or {})},
            [1e6 * rate * (1 + noise * off)],
            seed,
            path=path,
            **asked,
        )
        for rtt, rate in mbit.items()
        for seed, off in enumerate(NOISE[seeds], 1)
    ]


def stored(folder: Path, made: Sequence[Made], rate_bps: float = RATE_BPS) -> Path:
    return write_run(folder, made, samples=False, rate_bps=rate_bps)


OF = {"congestion": "cubic", "flows": "1", "loss": "none"}


def profile_of(
    folder: Path, points: Sequence[str], of: Mapping[str, str] = OF, capacity: str | None = "10 Gbit/s", **more: str
) -> Path:
    """A profile of one series, `fall`, with these points in YAML."""
    lines = [
        "name: mine",
        "about: What we measured.",
        "citation: {authors: [We], title: Our lab}",
        "series:",
        "  fall:",
        "    what: Throughput",
        f"    of: {{{', '.join(f'{key}: {value!r}' for key, value in of.items())}}}",
        "    over: rtt",
        "    certainty: exact",
        "    where: our lab",
        *([f"    capacity: {capacity}"] if capacity else []),
        *(f"    {key}: {value}" for key, value in more.items()),
        "    points:",
        *(f"      - {{{point}}}" for point in points),
    ]
    path = folder / "mine.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


LEVELS = {1: 9500.0, 50: 4000.0, 100: 1200.0}
POINTS = ("at: 1 ms, value: 9500 Mbit/s", "at: 50 ms, value: 4000 Mbit/s", "at: 100 ms, value: 1200 Mbit/s")


def test_a_run_within_the_tolerance_at_every_rtt_agrees(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, {rtt: 1.03 * level for rtt, level in LEVELS.items()}))
    said = compare(run, profile_of(tmp_path, POINTS))
    assert said.code == AGREE
    assert "overall: agrees (1 published series, within 10 % of each throughput: 1 agrees)" in said.out
    assert "AGREE" in said.out


LOW = ("at: 376 ms, value: 410 Mbit/s",)


@pytest.mark.parametrize(("share", "code"), [(0.29, DIFFER), (1.71, DIFFER), (0.0, DIFFER), (1.0, AGREE)])
def test_the_difference_is_relative_to_the_published_throughput(
    compare: Compare, tmp_path: Path, share: float, code: int
) -> None:
    """As shares of 10 Gbit/s, all of them are within 3 %."""
    run = stored(tmp_path / "run", run_of(tmp_path, {376: 410 * share}))
    assert compare(run, profile_of(tmp_path, LOW)).code == code


def test_opposite_differences_at_two_rtts_do_not_cancel(compare: Compare, tmp_path: Path) -> None:
    points = ("at: 50 ms, value: 410 Mbit/s", "at: 100 ms, value: 410 Mbit/s")
    run = stored(tmp_path / "run", run_of(tmp_path, {50: 410 * 0.29, 100: 410 * 1.71}))
    assert compare(run, profile_of(tmp_path, points)).code == DIFFER


def test_every_series_that_fits_is_judged_and_not_the_nearest(compare: Compare, tmp_path: Path) -> None:
    """One of ten is right."""
    made = []
    for number in range(10):
        levels = {rtt: level * (1 if number == 4 else 0.5) for rtt, level in LEVELS.items()}
        made += run_of(tmp_path, levels, {"sysctls.net.ipv4.tcp_ecn": str(number)})
    said = compare(stored(tmp_path / "run", made), profile_of(tmp_path, POINTS), "--format", "json")
    assert said.code == DIFFER
    (series,) = json.loads(said.out)["series"]
    assert [match["verdict"] for match in series["matches"]] == ["agree", *["differ"] * 9]
    assert all(match["fits"] for match in series["matches"])


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ({"loss": "1 in 500"}, "ours has loss none, published 1 in 500"),
        ({"loss": "0.2 %"}, "ours has loss none, published 0.2 %"),
        ({"window": "64 KiB"}, "ours has window auto, published 64 KiB"),
        ({"buffer": "2 bdp"}, "ours has buffer 1 bdp, published 2 bdp"),
    ],
    ids=["loss", "share", "window", "buffer"],
)
def test_equal_numbers_under_another_condition_show_nothing(
    compare: Compare, tmp_path: Path, of: Mapping[str, str], words: str
) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    said = compare(run, profile_of(tmp_path, POINTS, {**OF, **of}), "--format", "json")
    found = json.loads(said.out)
    assert said.code == CANNOT_TELL
    (match,) = found["series"][0]["matches"]
    assert (match["verdict"], match["fits"], found["verdict"]) == ("agree", False, "cannot tell")
    assert any(words in note for note in found["notes"])
    assert "fall: none of our series fits its conditions, so none decides" in found["notes"]


@pytest.mark.parametrize(
    "of",
    [{"loss": "none"}, {"window": "auto"}, {"buffer": "1 bdp"}, {"buffer": "100 packets"}, {"duration": "10 s"}],
    ids=lambda of: next(iter(of.values())),
)
def test_equal_conditions_and_those_nobody_can_compare_do_not_stand_in_the_way(
    compare: Compare, tmp_path: Path, of: Mapping[str, str]
) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    assert compare(run, profile_of(tmp_path, POINTS, {**OF, **of})).code == AGREE


def test_loss_is_the_same_however_it_is_written(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS, path={"loss": "1 in 500"}))
    assert compare(run, profile_of(tmp_path, POINTS, {**OF, "loss": "0.2 %"})).code == AGREE
    assert compare(run, profile_of(tmp_path, POINTS, {**OF, "loss": "1 in 500"})).code == AGREE
    assert compare(run, profile_of(tmp_path, POINTS)).code == CANNOT_TELL


CHAIN = "gilbert-elliott p=1 % r=10 % loss_bad=50 % loss_good=0 %"


@pytest.mark.parametrize(
    ("ours", "published", "code"),
    [
        ("1 in 1000", "1 in 1000", AGREE),
        ("1 in 1000", "periodic 0.1 %", AGREE),
        ("1 in 1000", "0.1 %", AGREE),
        ("1 in 1000", "random 0.1 %", CANNOT_TELL),
        ("0.1 %", "random 0.1 %", AGREE),
        ("0.1 %", "random 1 in 1000", AGREE),
        ("0.1 %", "0.1 %", AGREE),
        ("0.1 %", "1 in 1000", CANNOT_TELL),
        ("0.1 %", "random 0.2 %", CANNOT_TELL),
        ({"gilbert-elliott": {"p": "1 %", "r": "10 %", "loss_bad": "50 %"}}, CHAIN, AGREE),
        ({"gilbert-elliott": {"p": "2 %", "r": "20 %", "loss_bad": "50 %"}}, CHAIN, CANNOT_TELL),
        ({"gilbert-elliott": {"p": "1 %", "r": "10 %", "loss_bad": "50 %"}}, f"random {100 / 22:.6f} %", CANNOT_TELL),
        ({"gilbert-elliott": {"p": "1 %", "r": "10 %", "loss_bad": "50 %"}}, f"{100 / 22:.6f} %", AGREE),
    ],
    ids=str,
)
def test_periodic_and_random_losses_are_different_conditions(
    compare: Compare, tmp_path: Path, ours: object, published: str, code: int
) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS, path={"loss": ours}))
    said = compare(run, profile_of(tmp_path, POINTS, {**OF, "loss": published}))
    assert said.code == code
    assert (f"published {published}" in " ".join(said.out.split())) == (code == CANNOT_TELL)


def test_losses_one_after_the_other_are_as_all_of_them() -> None:
    both = lost((PeriodicLoss(500), RandomLoss(Fraction(1, 1000)), RandomLoss(Fraction(1, 1000))))
    assert str(both) == "1 in 500 + random 0.1999 %"
    assert both.is_same(read_loss(str(both)))
    assert not both.is_same(read_loss("1 in 500 + random 0.1 %"))
    assert both.is_same(read_loss(f"{100 * both.share} %"))
    assert str(lost(())) == str(read_loss("none")) == "none"
    assert str(read_loss("0.15 %")) == "0.15 %"


@pytest.mark.parametrize(
    "words", ["1 in 0", "random", "random x", "random 150 %", "periodic none", "some 1 %", "+", "gilbert-elliott p=1 %",
              "gilbert-elliott p=0 r=0", "gilbert-elliott p=1 % r=1 % q=1 %", "gilbert-elliott some p=1 % r=1 %",
              "gilbert-elliott p=1 % r=1 % p=2 %"],
)  # fmt: skip
def test_what_is_no_loss_is_refused(words: str) -> None:
    with pytest.raises(ValueRefused):
        read_loss(words)


def test_the_digits_of_a_mean_do_not_say_how_well_it_is_known(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    points = (
        "at: 1 ms, value: 9500.00 Mbit/s, sd: 950 Mbit/s, runs: 4",
        "at: 50 ms, value: 4000.00 Mbit/s, sd: 0 Mbit/s, runs: 4",
        "at: 100 ms, value: 1200.00 Mbit/s, sd: 12 Mbit/s, runs: 4, certainty: cited",
    )
    path = profile_of(tmp_path, points)
    text = compare(run, path).out  # Student's t with 3 degrees of freedom is 3.182
    assert "±15.9 %, mean of several runs  " in text
    assert "±0.00013 %, exact" in text
    assert "±1.59 %, mean of several runs, cited" in text
    (series,) = json.loads(compare(run, path, "--format", "json").out)["series"]
    found = [point["published_by_chance"] for point in series["matches"][0]["points"]]
    assert found == pytest.approx([0.1591, 0, 0.01591], rel=1e-3)


def test_another_duration_and_what_nobody_states_is_said(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    said = compare(
        run, profile_of(tmp_path, POINTS, {**OF, "duration": "60 s"}, claim="reproduced"), "--format", "json"
    )
    notes, (series,) = json.loads(said.out)["notes"], json.loads(said.out)["series"]
    assert said.code == AGREE
    assert "ours has duration 10 s, published 60 s (fall with all)" in notes
    assert "the publication does not state: window, buffer (fall with all)" in notes
    assert series["matches"][0]["claim"] == "shape"


def test_a_claim_of_reproduction_needs_all_conditions(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    whole = {**OF, "window": "auto", "buffer": "1 bdp", "duration": "10 s"}
    for of, claim in ((whole, "reproduced"), (OF, "shape")):
        said = compare(run, profile_of(tmp_path, POINTS, of, claim="reproduced"), "--format", "json")
        (series,) = json.loads(said.out)["series"]
        assert series["matches"][0]["claim"] == claim


@pytest.mark.parametrize(
    ("seeds", "noise", "why"),
    [
        (1, 0.0, "at 1, 50, 100 ms: one trial has no interval: needs at least 2 seeds"),
        (3, 0.0, "all seeds give the same, which is one case and no interval"),
        (2, 0.10, None),
    ],
    ids=["one seed", "equal seeds", "wide"],
)
def test_without_an_interval_or_with_a_wide_one_nothing_is_shown(
    compare: Compare, tmp_path: Path, seeds: int, noise: float, why: str | None
) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS, seeds=seeds, noise=noise, path=DRAWN))
    said = compare(run, profile_of(tmp_path, POINTS), "--format", "json")
    assert said.code == CANNOT_TELL
    assert why is None or any(why in note for note in json.loads(said.out)["notes"])
    assert "CANNOT TELL" in compare(run, profile_of(tmp_path, POINTS)).out


def test_a_published_rtt_that_ours_does_not_reach_is_not_passed_over(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, {1: 9500, 50: 4000}))
    profile = profile_of(tmp_path, POINTS)
    said = compare(run, profile, "--format", "json")
    assert said.code == CANNOT_TELL
    assert any("ours does not reach the published RTTs of 100 ms" in note for note in json.loads(said.out)["notes"])
    assert compare(run, profile, "--common-rtts").code == AGREE


def test_between_two_rtts_the_interval_reaches_over_both(compare: Compare, tmp_path: Path) -> None:
    """A straight line would give 4000 at 50 ms; nobody measured there."""
    run = stored(tmp_path / "run", run_of(tmp_path, {1: 6800, 99: 1200}))
    said = compare(run, profile_of(tmp_path, ("at: 50 ms, value: 4000 Mbit/s",)), "--format", "json")
    (point,) = json.loads(said.out)["series"][0]["matches"][0]["points"]
    assert said.code == CANNOT_TELL
    assert point["measured_bps"] == pytest.approx(4000e6)
    assert point["is_between"]
    assert (
        point["relative"]["interval"]["low"] < 1200 / 4000 - 1 < 6800 / 4000 - 1 < point["relative"]["interval"]["high"]
    )
    near = stored(tmp_path / "near", run_of(tmp_path, {49: 4050, 51: 3950}))
    assert compare(near, profile_of(tmp_path, ("at: 50 ms, value: 4000 Mbit/s",))).code == AGREE


@pytest.mark.parametrize("lost", ["invalid", "no goodput", "missing", "series"])
def test_what_our_run_lost_does_not_pass(compare: Compare, tmp_path: Path, lost: str) -> None:
    made = run_of(tmp_path, LEVELS)
    first = made[0]
    if lost == "invalid":
        made[0] = Made(first.params, first.goodput_bps, first.seed, "invalid", path=first.path)
    elif lost == "no goodput":
        made[0] = Made(first.params, [], first.seed, path=first.path, workload={"flows": 1})
    elif lost == "series":
        made += run_of(tmp_path, LEVELS, {"congestion": "htcp"}, verdict="invalid")
        made = [Made({"congestion": "cubic", **each.params}, each.goodput_bps, each.seed, each.verdict, path=each.path)
                for each in made]  # fmt: skip
    run = stored(tmp_path / "run", made)
    if lost == "missing":
        about = json.loads((run / "run.json").read_text())
        (run / "run.json").write_text(json.dumps({**about, "trials": [*about["trials"], "path.rtt=1ms,seed=99"]}))
    said = compare(run, profile_of(tmp_path, POINTS), "--format", "json")
    assert said.code == CANNOT_TELL, said
    assert any("nothing is shown to agree" in note for note in json.loads(said.out)["notes"])


def test_links_of_other_rates_are_judged_by_shares_only_if_asked(compare: Compare, tmp_path: Path) -> None:
    """The same bit/s at a tenth of the rate are not the same share, and the same share is not the same bit/s."""
    levels = {rtt: level / 10 for rtt, level in LEVELS.items()}
    run = stored(tmp_path / "run", run_of(tmp_path, levels, rate_bps=1e9), rate_bps=1e9)
    profile = profile_of(tmp_path, POINTS)
    said = compare(run, profile, "--format", "json")
    assert said.code == CANNOT_TELL
    notes = json.loads(said.out)["notes"]
    assert any("shares of the rate are compared, not bit/s" in note for note in notes)
    assert any("ours has rate 1 Gbit/s, published 10 Gbit/s" in note for note in notes)
    shares = compare(run, profile, "--as-shares")
    assert shares.code == AGREE
    assert "within 10 % of shares of the rate" in shares.out


def test_without_a_published_rate_throughputs_are_compared_as_they_are(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    said = compare(run, profile_of(tmp_path, POINTS, capacity=None), "--format", "json")
    (series,) = json.loads(said.out)["series"]
    assert said.code == AGREE
    assert series["matches"][0]["points"][0]["published_share"] is None
    assert (
        "the publication does not state: rate, window, buffer, duration (fall with all)"
        in json.loads(said.out)["notes"]
    )


@pytest.mark.parametrize(
    ("point", "code"),
    [
        ("value: 4.0 Gbit/s", AGREE),
        ("value: 4.0 Gbit/s, certainty: about", AGREE),
        ("value: 4 Gbit/s", CANNOT_TELL),
        ("value: 4 Gbit/s, certainty: about", CANNOT_TELL),
        ("value: 4 Gbit/s, plus_minus: 3 %", AGREE),
        ("value: 4.0 Gbit/s, plus_minus: 12 %", CANNOT_TELL),
        ("value: 4.0 Gbit/s, plus_minus: 500 Mbit/s", CANNOT_TELL),
        ("value: 4.000 Gbit/s, sd: 0.1 Gbit/s, runs: 10", AGREE),
        ("value: 4.000 Gbit/s, sd: 0.5 Gbit/s, runs: 3", CANNOT_TELL),
    ],
)
def test_how_far_the_published_number_may_be_off_goes_into_the_decision(
    compare: Compare, tmp_path: Path, point: str, code: int
) -> None:
    """Half a unit of the last digit, or a whole one if it is approximate: 12.5 % of "4"."""
    run = stored(tmp_path / "run", run_of(tmp_path, {50: 4000}))
    assert compare(run, profile_of(tmp_path, (f"at: 50 ms, {point}",))).code == code


def test_a_difference_must_hold_for_all_points_together(compare: Compare, tmp_path: Path) -> None:
    """13 % ± 2.0 % alone is outside of 10 %; as one of twenty points its interval is wider, and nothing is shown."""
    noise = 0.0165
    alone = stored(tmp_path / "alone", run_of(tmp_path, {50: 4000 * 1.13}, noise=noise))
    assert compare(alone, profile_of(tmp_path, ("at: 50 ms, value: 4000 Mbit/s",))).code == DIFFER
    points = [f"at: {rtt} ms, value: 4000 Mbit/s" for rtt in range(50, 70)]
    levels = {rtt: 4000 * (1.13 if rtt == 50 else 1.0) for rtt in range(50, 70)}
    many = stored(tmp_path / "many", run_of(tmp_path, levels, noise=noise))
    assert compare(many, profile_of(tmp_path, points)).code == CANNOT_TELL


def profile_run(tmp_path: Path, share: float = 0.141, rate_bps: float = 10e9) -> Path:
    """Goodput that falls from the rate at 1 ms to a share of it at 376 ms; two losses, of which one has half."""
    made = []
    for loss, factor in (("none", 1.0), ("1 in 500", 0.5)):
        levels = {rtt: rate_bps * level * factor / 1e6 for rtt, level in ((1, 0.95), (376, share))}
        made += run_of(
            tmp_path, levels, {"path.loss": loss}, seeds=3, noise=0.005, rate_bps=rate_bps, path={"loss": loss}
        )
    return stored(tmp_path / "run", made, rate_bps)


EMULATED = "google-cloud-emulated#emulated-cubic-1-flow"


def test_the_loss_that_was_published_decides_and_the_other_is_shown(compare: Compare, tmp_path: Path) -> None:
    run = profile_run(tmp_path)
    said = compare(run, EMULATED, "--format", "json")
    found = json.loads(said.out)
    assert (said.code, found["verdict"]) == (AGREE, "agree")
    (series,) = found["series"]
    assert [match["ours"] for match in series["matches"]] == ["loss none", "loss 1 in 500"]  # the nearest first
    assert [match["fits"] for match in series["matches"]] == [True, False]
    assert series["best"][0] == {"key": "loss none", "rms": series["matches"][0]["rms"], "is_apart": True}
    assert series["matches"][0]["rms"]["value"] == pytest.approx(1.41 / 1.40 - 1)
    assert series["matches"][0]["points"][0]["certainty"] == "exact"
    assert series["matches"][0]["claim"] == "shape"
    assert series["matches"][1]["cautions"][0] == "ours has loss 1 in 500, published none"
    text = compare(run, EMULATED).out
    assert "emulated-cubic-1-flow is explained best by: loss none" in " ".join(text.split())


def test_a_run_far_from_it_differs_though_another_loss_is_near(compare: Compare, tmp_path: Path) -> None:
    said = compare(profile_run(tmp_path, share=0.28), EMULATED, "--format", "json")
    (series,) = json.loads(said.out)["series"]
    assert said.code == DIFFER
    assert [match["ours"] for match in series["matches"]] == ["loss 1 in 500", "loss none"]
    assert [match["verdict"] for match in series["matches"]] == ["agree", "differ"]
    assert series["best"][0]["key"] == "loss 1 in 500"


def test_published_series_of_other_controls_and_flows_are_left_out_and_it_is_said(
    compare: Compare, tmp_path: Path
) -> None:
    said = compare(profile_run(tmp_path), "google-cloud-emulated", "--format", "json")
    found = json.loads(said.out)
    assert [each["published"] for each in found["series"]] == ["cloud-cubic-1-flow", "emulated-cubic-1-flow"]
    bbr = "published, cloud-bbr-10-flows: network google-cloud, congestion bbr, flows 10; ours has no such series"
    assert bbr in found["not_compared"]
    named = compare(tmp_path / "run", "google-cloud-emulated#cloud-bbr-10-flows")
    out = " ".join(named.out.split())
    assert named.code == CANNOT_TELL
    assert "ours has congestion cubic, published bbr (all)" in out
    assert "ours has flows 1, published 10 (all)" in out


def test_a_shape_is_compared_where_there_are_points_for_it(compare: Compare, tmp_path: Path) -> None:
    said = compare(profile_run(tmp_path), "google-cloud-emulated#cloud-cubic-1-flow", "--format", "json")
    (series,) = json.loads(said.out)["series"]
    shape = series["matches"][0]["shape"]
    assert shape["measured_bend"] == "straight"  # two points each
    assert shape["published_bend"] == "straight"
    assert shape["c_uc"]["interval"]["low"] <= shape["c_uc"]["value"] <= shape["c_uc"]["interval"]["high"]


def test_the_figure_and_the_markdown_of_a_profile(compare: Compare, tmp_path: Path) -> None:
    run = profile_run(tmp_path)
    for ending, magic in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        assert compare(run, EMULATED, "-o", tmp_path / f"f{ending}").code == 0
        assert (tmp_path / f"f{ending}").read_bytes().startswith(magic)
    said = compare(run, EMULATED, "--format", "markdown")
    assert said.out == (ROOT / "tests/data/compare-profile.md").read_text()


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A run at one RTT, with two series."""
    made = [each for buffer in ("1 bdp", "2 bdp") for each in run_of(tmp_path, {10: 40}, {"path.buffer": buffer})]
    return stored(tmp_path / "base", made)


def test_a_run_without_a_published_rtt_is_told_what_there_is(compare: Compare, base: Path) -> None:
    said = compare(base, "google-cloud-emulated")
    assert said.code == 2
    assert "published, emulated-cubic-10-flows: RTT 376 ms; ours, 2 series: 10 to 10 ms" in said.err
    assert "allowed: a run whose RTTs reach from below a published one to above it" in said.err
    assert "published, cubic-100ms: RTT 100 ms; ours, 2 series: 10 to 10 ms" in compare(base, "rfc9438").err
    said = compare(base, "amazon-azure-2015").err
    assert "no RTT is stated, so what is named is compared alone: amazon-azure-2015#NAME with tcp-mean-amazon, " in said


def test_a_profile_of_the_users_own_with_a_unit_missing_is_refused(
    compare: Compare, base: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.yaml"
    text = (ROOT / "profiles/google-cloud-emulated.yaml").read_text()
    mine.write_text(text.replace("value: 1.40 Gbit/s}", "value: 1.40}"))
    said = compare(base, mine)
    assert said.code == 2
    assert "'1.40' has no unit" in said.err


def test_the_profiles_are_found_from_any_folder(
    compare: Compare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = profile_run(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert compare(run.name, EMULATED).code == 0


def test_copies_of_one_trial_have_no_interval_whatever_was_published(compare: Compare, tmp_path: Path) -> None:
    """The published sd gave them one, and they agreed."""
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS, noise=0.0, path=DRAWN))
    points = [f"{point}, sd: 1 Mbit/s, runs: 5" for point in POINTS]
    assert compare(run, profile_of(tmp_path, points)).code == CANNOT_TELL


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize(("share", "code"), [(1.0, AGREE), (1.05, AGREE), (0.64, DIFFER), (2.38, DIFFER)])
def test_where_nothing_is_random_our_value_is_exact(
    compare: Compare, tmp_path: Path, seeds: int, share: float, code: int
) -> None:
    """-36 % and +138 % were "cannot tell"."""
    levels = {rtt: share * level / 3 for rtt, level in LEVELS.items()}
    points = [point.replace("9500", "3166.67").replace("4000", "1333.33").replace("1200", "400") for point in POINTS]
    run = stored(tmp_path / "run", run_of(tmp_path, levels, seeds=seeds, noise=0.0))
    said = compare(run, profile_of(tmp_path, points), "--format", "json")
    assert said.code == code
    found = json.loads(said.out)
    assert any("at 1, 50, 100 ms: nothing is random in it" in note for note in found["notes"])
    for point in found["series"][0]["matches"][0]["points"]:
        assert point["is_exact"]
        assert point["relative"]["interval"]["low"] == pytest.approx(share - 1, abs=5e-3)  # as it is printed
    varied = stored(tmp_path / "varied", run_of(tmp_path, levels, seeds=seeds, noise=0.0, path=DRAWN))
    assert compare(varied, profile_of(tmp_path, points)).code == CANNOT_TELL


@pytest.mark.parametrize(("share", "code"), [(0.21, DIFFER), (0.3, CANNOT_TELL), (4.5, DIFFER), (1.0, CANNOT_TELL)])
def test_one_trial_that_its_own_variation_does_not_explain_differs(
    compare: Compare, tmp_path: Path, share: float, code: int
) -> None:
    levels = {rtt: share * level / 5 for rtt, level in LEVELS.items()}
    points = [point.replace("9500", "1900").replace("4000", "800").replace("1200", "240") for point in POINTS]
    run = write_run(tmp_path / "run", run_of(tmp_path, levels, seeds=1, path=DRAWN), rate_bps=RATE_BPS)
    said = compare(run, profile_of(tmp_path, points), "--format", "json")
    assert said.code == code
    found = json.loads(said.out)
    told = [point["is_within_trial"] for point in found["series"][0]["matches"][0]["points"]]
    assert set(told) == {code == DIFFER}
    first = view(read(run), profiles=[published.find(str(profile_of(tmp_path, points)))])["comparison"][0]
    assert first["summary"].startswith(f"overall: {'differs' if code == DIFFER else 'cannot tell'}")


def over_flows(folder: Path, *points: str, of: str = "congestion: cubic, rtt: 80 ms", over: str = "flows") -> Path:
    path = folder / "flows.yaml"
    path.write_text(
        "name: flows\nabout: Ours.\ncitation: {authors: [We], title: Our lab}\nseries:\n  some:\n    what: Throughput\n"
        f"    of: {{{of}}}\n    over: {over}\n    certainty: exact\n    claim: shape\n    where: our lab\n    points:\n"
        + "".join(f"      - {{{point}}}\n" for point in points)
    )
    return path


def test_throughput_over_flows_at_one_rtt_is_compared_point_by_point(compare: Compare, tmp_path: Path) -> None:
    """Such series were refused: no throughput over RTT. Four flows agree, one differs, and there is no trial of two."""
    made = [
        replace(
            each,
            goodput_bps=[rate * 1e6 / count * each.goodput_bps[0]] * count,
            params={**each.params, "flows": f"{count}"},
        )
        for count, rate in ((1, 70.0), (4, 400.0))
        for each in run_of(tmp_path, {80: 1e-6})
    ]
    run = stored(tmp_path / "run", made)
    points = [f"at: {count} flows, value: {rate} Mbit/s" for count, rate in ((1, 100), (2, 200), (4, 405))]
    said = compare(run, over_flows(tmp_path, *points), "--format", "json")
    found = json.loads(said.out)
    assert {each["published"]: each["verdict"] for each in found["series"]} == {
        "some at 1 flows": "differ",
        "some at 4 flows": "agree",
    }
    assert any("some at 2 flows" in each for each in found["not_compared"])
    assert said.code == DIFFER
    assert compare(run, f"{over_flows(tmp_path, *points)}#some at 4 flows").code == AGREE


def test_a_number_at_one_rtt_is_not_compared_with_a_line_between_others(compare: Compare, tmp_path: Path) -> None:
    """Two facts of Google's network, 7.96 Gbit/s at 80 ms and 9.72 at 81 ms, one of which no line can meet."""
    profile = "google-cloud-emulated"
    there = stored(tmp_path / "there", run_of(tmp_path, {80: 7960.0, 81: 7960.0}, noise=0.001))
    assert compare(there, f"{profile}#cloud-80ms").code == AGREE
    assert compare(there, f"{profile}#cloud-81ms").code == DIFFER
    around = stored(tmp_path / "around", run_of(tmp_path, {1: 9500.0, 340: 4100.0}, noise=0.001))
    said = compare(around, profile, "--format", "json")
    assert "cloud-80ms" not in [each["published"] for each in json.loads(said.out)["series"]]
    assert compare(around, f"{profile}#cloud-80ms").code == 2


def test_a_claim_or_a_condition_that_nothing_can_meet_is_refused_with_its_line(
    compare: Compare, tmp_path: Path
) -> None:
    wrong = over_flows(tmp_path, "at: 1 flows, value: 1 Mbit/s", "at: 0.5 flows, value: 2 Mbit/s")
    with pytest.raises(SpecError, match=r"flows.yaml:14: at: '0.5' is no number of flows"):
        published.load(wrong)
    with pytest.raises(SpecError, match="'far' is no RTT; allowed: such as 80 ms"):
        published.load(over_flows(tmp_path, "at: 1 flows, value: 1 Mbit/s", of="rtt: far"))
    twice = "rtt: 80 ms, flows: 8"
    with pytest.raises(SpecError, match=r"flows is what its points are at, and stands here, too"):
        published.load(over_flows(tmp_path, "at: 1 flows, value: 1 Mbit/s", of=twice))
    facts = tmp_path / "facts.yaml"
    facts.write_text(
        "name: facts\nabout: Ours.\ncitation: {authors: [We], title: Our lab}\nfacts:\n  one:\n    what: Throughput\n"
        "    value: 10 ms\n    certainty: exact\n    claim: shape\n    where: our lab\n"
    )
    with pytest.raises(SpecError, match=r"facts.yaml:9: claim: nothing can be compared with it"):
        published.load(facts)


def test_a_fact_does_not_take_the_place_of_a_series_of_its_name(compare: Compare, tmp_path: Path) -> None:
    """Then the series, with which a run differs, would not be compared."""
    path = profile_of(tmp_path, ("at: 80 ms, value: 4000 Mbit/s",))
    path.write_text(
        f"{path.read_text().rstrip()}\nfacts:\n  fall: {{what: Throughput, value: 100 Mbit/s, of: {{rtt: 80 ms}}, "
        "certainty: exact, claim: shape, where: our lab}\n"
    )
    assert set(published.load(path).compared) == {"fall", "fact fall"}
    run = stored(tmp_path / "run", run_of(tmp_path, {80: 100.0}, noise=0.001))
    assert compare(run, path).code == DIFFER
    assert compare(run, f"{path}#fact fall").code == AGREE


def test_what_was_measured_once_is_not_known_to_its_last_digit(compare: Compare, tmp_path: Path) -> None:
    points = ["at: 80 ms, value: 108.890208 Mbit/s, runs: 1"]
    run = stored(tmp_path / "run", run_of(tmp_path, {80: 108.9}, path=DRAWN))
    profile = profile_of(tmp_path, points)
    said = compare(run, profile)
    assert said.code == CANNOT_TELL
    assert "one run: noise unknown" in said.out
    assert "the published number is of one run, and how much others would differ is not known" in " ".join(
        said.out.split()
    )
    assert "all seeds give the same" not in said.out
    found = json.loads(compare(run, profile, "--format", "json").out)["series"][0]["matches"][0]["points"]
    assert [each["is_of_one_run"] for each in found] == [True]


@pytest.mark.parametrize(
    ("point", "capacity"),
    [
        ("at: 1 ms, value: -9500 Mbit/s", "10 Gbit/s"),
        ("at: -1 ms, value: 9500 Mbit/s", "10 Gbit/s"),
        ("at: 1 ms, value: 9500 Mbit/s, sd: -1 Mbit/s, runs: 3", "10 Gbit/s"),
        (POINTS[0], "0 Mbit/s"),
        (POINTS[0], "5 ms"),
    ],
)
def test_numbers_that_cannot_be_are_refused_with_their_line(
    compare: Compare, tmp_path: Path, point: str, capacity: str
) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    said = compare(run, profile_of(tmp_path, (point, *POINTS[1:]), capacity=capacity))
    assert (said.code, "mine.yaml:1" in said.err) == (2, True)


@pytest.mark.parametrize("absurd", ["NaN", "Infinity", "-5.0", "1e308"])
def test_a_goodput_that_is_no_number_is_refused(compare: Compare, tmp_path: Path, absurd: str) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    file = next(run.glob("trials/*seed=1/result.json"))
    file.write_text(json.dumps({**json.loads(file.read_text()), "goodput_bps": float(absurd)}))
    said = compare(run, profile_of(tmp_path, POINTS))
    assert (said.code, f"{file} is damaged: goodput_bps is" in said.err) == (2, True)


def test_the_json_has_each_number_in_its_unit_and_of_its_side(compare: Compare, tmp_path: Path) -> None:
    """Ours at 1 Gbit/s, theirs at 10: as shares, both in bit/s of their own rate."""
    levels = {rtt: level / 10 for rtt, level in LEVELS.items()}
    run = stored(tmp_path / "run", run_of(tmp_path, levels, rate_bps=1e9), rate_bps=1e9)
    said = json.loads(compare(run, profile_of(tmp_path, POINTS), "--as-shares", "--format", "json").out)
    assert {*said} == {
        "profile", "tolerance", "as_shares", "verdict", "series", "notes", "not_compared", "lost"
    }  # fmt: skip
    assert (said["as_shares"], said["verdict"]) == (True, "agree")
    (series,) = said["series"]
    (match,) = series["matches"]
    assert (series["capacity_bps"], match["capacity_bps"], match["unit"]) == (1e10, 1e9, "share")
    assert (series["agrees"], match["agrees"], series["verdict"], match["verdict"]) == (True, True, "agree", "agree")
    assert match["shape"] is not None
    point = match["points"][0]
    assert point["published_bps"] == pytest.approx(1e10 * point["published_share"])
    assert point["measured_bps"] == pytest.approx(1e9 * point["measured_share"])
    assert point["measured_share"] == pytest.approx(point["published_share"], rel=0.1)
    assert point["relative"]["value"] == pytest.approx(point["measured_share"] / point["published_share"] - 1)
    assert (point["verdict"], point["is_between"]) == ("agree", False)
    assert {*point} == {
        "rtt_s", "published", "measured", "published_bps", "measured_bps", "published_share", "measured_share",
        "relative", "family_interval", "published_off", "is_between", "limit", "is_exact", "is_within_trial",
        "is_of_one_run", "verdict", "certainty", "published_by_chance",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "off_bps"),
    [
        ("", 0.5e6),
        (", certainty: about", 1e6),
        (", plus_minus: 20 Mbit/s", 20e6),
        (", plus_minus: 10 %", 400e6),
    ],
)
def test_a_published_number_may_be_off_by_what_is_printed_with_it(tmp_path: Path, more: str, off_bps: float) -> None:
    profile = published.load(profile_of(tmp_path, (f"at: 50 ms, value: 4000 Mbit/s{more}",)))
    (point,) = profile.series["fall"].points
    assert profile.series["fall"].off_bps(point) == pytest.approx(off_bps)


LIMITED = {
    "1 bdp": run_of(Path(), LEVELS, {"path.buffer": "1 bdp"}, seeds=3, path={"buffer": "1 bdp"}),
    "2 bdp": run_of(Path(), LEVELS, {"path.buffer": "2 bdp"}, seeds=1, path={"buffer": "2 bdp", **DRAWN}),
    "3 bdp": run_of(
        Path(), {**LEVELS, 100: 0.0}, {"path.buffer": "3 bdp"}, seeds=3, noise=0.0, path={"buffer": "3 bdp", **DRAWN}
    ),
}
"""A series with little noise, one of single trials, and one of copies."""
DOUBTED = (
    "at: 1 ms, value: 9 Gbit/s",
    "at: 50 ms, value: 4000 Mbit/s",
    "at: 75 ms, value: 2500 Mbit/s, certainty: about",
    "at: 300 ms, value: 410 Mbit/s",
)


def test_all_that_limits_a_comparison_is_said_of_the_series_that_it_limits(compare: Compare, tmp_path: Path) -> None:
    """By hand: an RMS of sqrt((5.56² + 4²) / 3) = 3.95 % and of sqrt((5.56² + 20²) / 3) = 12 %."""
    made = [each for series in LIMITED.values() for each in series]
    made[0], made[-1] = replace(made[0], verdict="suspect"), replace(made[-1], verdict="invalid")
    profile = profile_of(tmp_path, DOUBTED, {**OF, "buffer": "1 bdp"}, claim="reproduced")
    words = (stored(tmp_path / "run", made), profile, "--tolerance", "3 %")
    assert compare(*words, "--format", "markdown").out == (ROOT / "tests/data/compare-profile-limits.md").read_text()
    found = json.loads(compare(*words, "--format", "json").out)
    (series,) = found["series"]
    assert (found["profile"], found["tolerance"], series["published"], series["where"]) == (
        "mine", 0.03, "fall", "our lab",
    )  # fmt: skip
    assert [each["fits"] for each in series["matches"]] == [True, False, False]
    first = series["matches"][0]
    assert (first["unit"], first["left_out_rtt_s"], first["params"]) == ("bit/s", [0.3], {"path.buffer": "1 bdp"})
    assert first["conditions"][0] == {
        "name": "congestion", "ours": "cubic", "published": "cubic", "is_same": True, "decides": True,
    }  # fmt: skip
    assert [each["is_between"] for each in first["points"]] == [False, False, True]


@pytest.mark.parametrize(
    ("middle", "published", "shape"),
    [(8000, 8000, "concave"), (8000, 5000, "concave, published straight"), (2000, 8000, "convex, published concave")],
)
def test_the_shape_is_ours_and_the_published_one_where_it_differs(
    compare: Compare, tmp_path: Path, middle: int, published: int, shape: str
) -> None:
    """From 9000 to 1000 Mbit/s: the chord is at 5000 in the middle."""
    run = stored(tmp_path / "run", run_of(tmp_path, {10: 9000, 20: middle, 30: 1000}, noise=0.001))
    points = [f"at: {rtt} ms, value: {bps}.0 Mbit/s" for rtt, bps in ((10, 9000), (20, published), (30, 1000))]
    said = compare(run, profile_of(tmp_path, points), "--format", "markdown", "--tolerance", "3 %")
    assert f"| {shape} |" in said.out


def test_what_was_not_received_has_no_ratio(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, {50: 0.0, 100: 0.0}))
    found = json.loads(compare(run, profile_of(tmp_path, POINTS[1:]), "--format", "json").out)
    assert "at 50, 100 ms: nothing was received, so there is no ratio (fall with all)" in found["notes"]
    assert not any("all seeds give the same" in note for note in found["notes"])


def test_several_published_series_are_counted_by_their_verdicts(compare: Compare, tmp_path: Path) -> None:
    """A second one is twice as high; a caution about both is about all."""
    path = profile_of(tmp_path, POINTS)
    head, series = path.read_text().split("  fall:\n")
    high = series.replace("9500", "4750").replace("4000", "8000").replace("1200", "2400")
    path.write_text(f"{head}  fall:\n{series}  high:\n{high}")
    said = compare(stored(tmp_path / "run", run_of(tmp_path, LEVELS)), path)
    assert said.code == DIFFER
    out = " ".join(said.out.split())
    assert "overall: differs (2 published series, within 10 % of each throughput: 1 agrees, 1 differs)" in out
    assert "the publication does not state: window, buffer, duration (all)" in out


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"workload": {"flows": 1}, "path": {"buffer": "100 packets"}}, "ours has buffer 100 packets, published 2 bdp"),
        ({"workload": {"window": "64 KiB"}, "path": {"buffer": "2 bdp"}}, "ours has window 64 KiB, published auto"),
    ],
)
def test_a_condition_is_said_in_the_words_of_each_side(
    compare: Compare, tmp_path: Path, changes: Mapping[str, Any], words: str
) -> None:
    """A buffer in packets and one in BDP cannot be held against each other, so nothing is said of them."""
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS, **changes))
    said = compare(run, profile_of(tmp_path, POINTS, {**OF, "buffer": "2 bdp", "window": "auto"}), "--format", "json")
    is_same = {each["name"]: each["is_same"] for each in json.loads(said.out)["series"][0]["matches"][0]["conditions"]}
    is_buffer = "buffer" in words
    assert (is_same["buffer"], is_same["window"]) == ((None, True) if is_buffer else (True, False))
    assert any(words in note for note in json.loads(said.out)["notes"]) != is_buffer


AT_LEAST, AT_MOST = "at_least: 9000 Mbit/s, certainty: bound", "at_most: 1300 Mbit/s, certainty: bound"


@pytest.mark.parametrize(
    ("limit", "at_ms", "share", "code"),
    [
        (AT_LEAST, 1, 1.0, AGREE),
        (AT_LEAST, 1, 0.96, AGREE),  # 9120, and above is as good
        (AT_LEAST, 1, 0.5, DIFFER),
        (AT_LEAST, 1, 0.855, CANNOT_TELL),  # 8122 beside 9000 less 10 %
        (AT_LEAST, 1, 0.0, DIFFER),
        (AT_MOST, 100, 1.0, AGREE),
        (AT_MOST, 100, 0.1, AGREE),
        (AT_MOST, 100, 1.5, DIFFER),
        (AT_MOST, 100, 1.19, CANNOT_TELL),
        (AT_MOST, 100, 0.0, CANNOT_TELL),  # nothing was measured, which is no agreement
        ("at_least: 1000 Mbit/s, at_most: 1300 Mbit/s, certainty: bound", 100, 1.0, AGREE),
        ("at_least: 1000 Mbit/s, at_most: 1300 Mbit/s, certainty: bound", 100, 0.5, DIFFER),
        ("at_least: 1000 Mbit/s, at_most: 1300 Mbit/s, certainty: bound", 100, 1.5, DIFFER),
    ],
)
@pytest.mark.parametrize("alone", [True, False], ids=["a limit alone", "beside a value"])
def test_published_limits_are_judged_on_their_side(
    compare: Compare, tmp_path: Path, limit: str, at_ms: int, share: float, code: int, alone: bool
) -> None:
    levels = {rtt: level * (share if rtt == at_ms else 1.0) for rtt, level in LEVELS.items()}
    points = [f"at: {at_ms} ms, {limit}", *([] if alone else ["at: 50 ms, value: 4000 Mbit/s"])]
    run = stored(tmp_path / "run", run_of(tmp_path, levels, noise=0.05))
    assert compare(run, profile_of(tmp_path, points), "--tolerance", "0.1").code == code


def test_the_table_and_the_json_have_the_limits(compare: Compare, tmp_path: Path) -> None:
    points = (f"at: 1 ms, {AT_LEAST}", POINTS[1], f"at: 100 ms, {AT_MOST}")
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    profile = profile_of(tmp_path, points)
    out = compare(run, profile).out
    assert "≥ 9 Gbit/s" in out
    assert "≤ 1300 Mbit/s" in out or "≤ 1.3 Gbit/s" in out
    (series,) = json.loads(compare(run, profile, "--format", "json").out)["series"]
    (match,) = series["matches"]
    assert [(each["rtt_s"], each["limit"]) for each in match["points"]] == [
        (0.001, "at least"), (0.05, None), (0.1, "at most")
    ]  # fmt: skip
    assert match["rms"]["value"] == pytest.approx(0, abs=1e-9)  # of the one value: a limit is no value
    figure = tmp_path / "figure.svg"
    assert compare(run, profile, "-o", figure).code == AGREE
    assert figure.stat().st_size > 0


def test_limits_alone_have_no_rms_and_are_drawn(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    profile = profile_of(tmp_path, (f"at: 1 ms, {AT_LEAST}",))
    (series,) = json.loads(compare(run, profile, "--format", "json").out)["series"]
    assert (series["matches"][0]["rms"], series["best"]) == (None, [])
    assert compare(run, profile, "-o", tmp_path / "figure.png").code == AGREE


def test_a_limit_outside_our_rtts_is_said_and_no_pass(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    said = compare(run, profile_of(tmp_path, (*POINTS, "at: 300 ms, at_most: 1 Gbit/s, certainty: bound")))
    assert said.code == CANNOT_TELL
    assert "ours does not reach the published RTTs of 300 ms" in " ".join(said.out.split())


def test_points_of_which_nothing_is_known_are_said(compare: Compare, tmp_path: Path) -> None:
    run = stored(tmp_path / "run", run_of(tmp_path, LEVELS))
    said = compare(run, profile_of(tmp_path, (*POINTS, "at: 300 ms, certainty: unknown")))
    assert said.code == AGREE
    assert "not compared: published, fall: nothing is printed at 300 ms" in " ".join(said.out.split())


def test_a_limit_of_shares_is_one_of_each_side_s_rate(compare: Compare, tmp_path: Path) -> None:
    run = stored(
        tmp_path / "run", run_of(tmp_path, {rtt: level / 10 for rtt, level in LEVELS.items()}, rate_bps=1e9), 1e9
    )
    profile = profile_of(tmp_path, (f"at: 1 ms, {AT_LEAST}", f"at: 100 ms, {AT_MOST}"))
    assert compare(run, profile).code == CANNOT_TELL
    assert compare(run, profile, "--as-shares").code == AGREE


def test_chains_in_a_row_stay_apart_in_words_and_in_what_they_lose() -> None:
    chain = GilbertElliott(Fraction(1, 1000), Fraction(1, 2))
    both = lost([chain, chain])
    assert str(both).count("gilbert-elliott") == 2
    assert read_loss(str(both)).is_same(both)
    assert not both.is_same(lost([chain]))
