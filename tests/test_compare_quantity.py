"""Published numbers of every kind, each against runs that have it, differ from it, or lack it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from comparing import Compare, said_by
from storedruns import Made, write_run

from testbed.compare import published, quantity
from testbed.error import SpecError, UserError, ValueRefused
from testbed.report.figure.published_profile import value_label

AGREE, DIFFER, CANNOT_TELL, REFUSED = 0, 1, 5, 2
MSS_BYTES = 1448
SEEDS = (-1.0, 0.0, 1.0)
LINKS, RFC = "physical-virtual-links-2015", "rfc9438"
CISCO_MIB = {"4 KiB": 772.6, "8 KiB": 1798, "16 KiB": 1835, "64 KiB": 2793}
RENO = {"1 in 100": 12, "1 in 1000": 38, "1 in 10000": 120}


def made(bps: float, params: Mapping[str, str], path: Mapping[str, str] | None = None, **more: Any) -> list[Made]:
    """Three seeds of a cell."""
    return [
        Made(params, [bps * (1 + 0.005 * off)], seed, path={"buffer": "1 bdp", **(path or {})}, **more)
        for seed, off in enumerate(SEEDS, 1)
    ]


def windows(folder: Path, transfers: Mapping[str, float], factor: float = 1.0, rtt: str = "1 ms") -> Path:
    """Transfers in MiB of 30 s, by window, over a link of 1 Gbit/s."""
    cells = [
        each
        for window, mib in transfers.items()
        for each in made(
            factor * mib * 2**20 * 8 / 30, {"window": window, "path.rtt": rtt}, workload={"window": window}
        )
    ]
    return write_run(folder, cells, samples=False, rate_bps=1e9)


def verdicts(said: str) -> dict[str, str]:
    return {each["published"]: each["verdict"] for each in json.loads(said)["series"]}


def test_a_transfer_in_bytes_is_a_goodput_over_the_duration_that_is_published(compare: Compare, tmp_path: Path) -> None:
    """Table II of Hartpence and Kwasinski: it was "not throughput over RTT"."""
    said = compare(windows(tmp_path / "run", CISCO_MIB), f"{LINKS}#physical-cisco", "--format", "json")
    found = json.loads(said.out)
    assert said.code == AGREE
    assert {*verdicts(said.out).values()} == {"agree"}
    assert [each["published"] for each in found["series"]] == [f"physical-cisco at {window}" for window in CISCO_MIB]
    (match,) = found["series"][0]["matches"]
    assert (match["ours"], match["unit"], match["claim"]) == ("window 4 KiB", "bit/s", "calibrated")
    assert match["points"][0]["published"] == pytest.approx(772.6 * 2**20 * 8 / 30)
    assert any("the publication states no RTT; ours is 1 ms" in each for each in found["notes"])
    assert found["series"][0]["metric"] == "transfer"


@pytest.mark.parametrize("wrong", CISCO_MIB)
def test_one_window_that_is_wrong_makes_the_series_differ(compare: Compare, tmp_path: Path, wrong: str) -> None:
    run = windows(tmp_path / "run", {**CISCO_MIB, wrong: 1.3 * CISCO_MIB[wrong]})
    said = compare(run, f"{LINKS}#physical-cisco", "--format", "json")
    assert said.code == DIFFER
    assert [name for name, verdict in verdicts(said.out).items() if verdict == "differ"] == [
        f"physical-cisco at {wrong}"
    ]


@pytest.mark.parametrize("gone", CISCO_MIB)
def test_a_window_that_is_missing_never_agrees(compare: Compare, tmp_path: Path, gone: str) -> None:
    run = windows(tmp_path / "run", {window: mib for window, mib in CISCO_MIB.items() if window != gone})
    said = compare(run, f"{LINKS}#physical-cisco", "--format", "json")
    assert said.code == CANNOT_TELL
    assert any(f"physical-cisco at {gone}" in each for each in json.loads(said.out)["lost"])
    assert compare(run, f"{LINKS}#physical-cisco", "--common-rtts").code == AGREE
    assert compare(run, f"{LINKS}#physical-cisco at {gone}").code == CANNOT_TELL


def test_a_link_of_another_rate_does_not_decide(compare: Compare, tmp_path: Path) -> None:
    cells = [each for window, mib in CISCO_MIB.items()
             for each in made(mib * 2**20 * 8 / 30, {"window": window}, workload={"window": window})]  # fmt: skip
    run = write_run(tmp_path / "run", cells, samples=False, rate_bps=10e9)
    assert compare(run, f"{LINKS}#physical-cisco").code == CANNOT_TELL
    assert compare(run, f"{LINKS}#virtual-linux-1gb at 4 KiB").code == DIFFER  # whose rate is not stated


def test_without_an_rtt_the_verdict_is_that_of_all_of_ours_if_they_have_one(compare: Compare, tmp_path: Path) -> None:
    """One RTT of ours may be the publication's; which one, nobody knows."""

    def run(name: str, *factors: float) -> Path:
        cells = [
            each
            for at, factor in enumerate(factors, 1)
            for each in made(factor * 77.8e6, {"path.rtt": f"{at * 10} ms"})
        ]
        return write_run(tmp_path / name, cells, samples=False)

    profile = "amazon-azure-2015#tcp-mean-amazon"
    assert compare(run("same", 1.0, 1.02), profile).code == AGREE
    assert compare(run("other", 0.5, 0.6), profile).code == DIFFER
    mixed = compare(run("mixed", 1.0, 0.5), profile)
    assert mixed.code == CANNOT_TELL
    assert "so RTTs that come out differently decide nothing" in " ".join(mixed.out.split())


def test_what_states_no_rtt_is_compared_only_if_it_is_named(compare: Compare, tmp_path: Path) -> None:
    run = windows(tmp_path / "run", CISCO_MIB)
    said = compare(run, LINKS)
    assert said.code == REFUSED
    assert f"what is named is compared alone: {LINKS}#NAME with physical-cisco, " in said.err


def losses(folder: Path, windows: Mapping[str, float], factor: float = 1.0, rate_bps: float = 1e9) -> Path:
    cells = [
        each
        for loss, segments in windows.items()
        for each in made(
            factor * segments * MSS_BYTES * 8 / 0.1,
            {"path.rtt": "100 ms", "path.loss": loss, "congestion": "reno"},
            path={"loss": loss},
        )
    ]
    return write_run(folder, cells, samples=False, rate_bps=rate_bps)


def test_segments_in_flight_are_goodput_times_rtt_over_their_size(compare: Compare, tmp_path: Path) -> None:
    said = compare(losses(tmp_path / "run", RENO), RFC, "--format", "json", "--common-rtts")
    found = json.loads(said.out)
    assert said.code == AGREE
    assert verdicts(said.out) == dict.fromkeys(
        [f"reno-100ms at {loss} ratio" for loss in ("1.0e-02", "1.0e-03", "1.0e-04")], "agree"
    )
    points = [each["matches"][0]["points"][0] for each in found["series"]]
    assert [each["measured"] for each in points] == pytest.approx([12, 38, 120])
    assert {each["measured_bps"] for each in points} == {None}
    assert compare(losses(tmp_path / "more", RENO, 1.25), RFC, "--common-rtts").code == DIFFER


def test_losses_that_are_missing_are_no_agreement(compare: Compare, tmp_path: Path) -> None:
    said = compare(losses(tmp_path / "run", RENO), RFC)
    assert said.code == CANNOT_TELL
    assert "reno-100ms at 1.0e-05 ratio" in " ".join(said.out.split())


def test_a_full_link_has_no_window_that_its_rtt_tells(compare: Compare, tmp_path: Path) -> None:
    """120 segments in 100 ms are 13.9 Mbit/s; a link of 14 Mbit/s carries 13.4 at most, and a queue stands."""
    run = losses(tmp_path / "run", RENO, rate_bps=14e6)
    said = compare(run, f"{RFC}#reno-100ms at 1.0e-04 ratio")
    assert said.code == CANNOT_TELL  # it is shown beside the other losses
    why = "no valid or suspect trial has a goodput of at most 90% of its link's, so that no queue stands"
    assert f"lost, so nothing is shown to agree: ours, loss 1 in 10000: {why}" in " ".join(said.out.split())
    assert compare(run, f"{RFC}#reno-100ms", "--common-rtts").code == CANNOT_TELL


def test_another_variant_of_a_control_is_another_control(compare: Compare, tmp_path: Path) -> None:
    """Linux has C = 0.4, and the windows for C = 4 are no verdict about it."""
    cells = made(59 * MSS_BYTES * 8 / 0.1, {"path.rtt": "100 ms", "congestion": "cubic"}, path={"loss": "1 in 1000"})
    run = write_run(tmp_path / "run", cells, samples=False, rate_bps=1e9)
    found = json.loads(compare(run, RFC, "--format", "json").out)
    assert [each["published"] for each in found["series"]] == ["cubic-100ms at 1.0e-03 ratio"]
    assert found["verdict"] == "differ"
    named = compare(run, f"{RFC}#cubic-c4-100ms at 1.0e-03 ratio")
    assert named.code == CANNOT_TELL


def measured(folder: Path, key: str, tool: Sequence[Mapping[str, Any]], **more: Any) -> Path:
    """A run whose trials measured this."""
    cells = [
        Made({"path.rtt": "10 ms"}, more.get("goodput", [50e6]), seed, path={"jitter": "1 us"},
             workload={"flows": 1}, data={"measured": {key: each}})
        for seed, each in enumerate(tool, 1)
    ]  # fmt: skip
    return write_run(folder, cells, samples=False)


def pings(*rtts_s: float | None) -> list[dict[str, Any]]:
    return [{"sent": 50, "received": 50 if rtt else 0, "rtt_mean_s": rtt} for rtt in rtts_s]


def test_an_rtt_is_compared_with_the_mean_of_pings(compare: Compare, tmp_path: Path) -> None:
    here = measured(tmp_path / "run", "ping", pings(0.1999, 0.2010, 0.2021), goodput=[])
    said = compare(here, "amazon-azure-2015#rtt-eu-ap-amazon", "--format", "json")
    (match,) = json.loads(said.out)["series"][0]["matches"]
    assert (said.code, match["unit"], match["points"][0]["measured"]) == (AGREE, "s", pytest.approx(0.201))
    assert "no RTT" not in said.out
    assert "201 ms" in compare(here, "amazon-azure-2015#rtt-eu-ap-amazon").out
    assert compare(here, "amazon-azure-2015#rtt-eu-ap-azure").code == DIFFER
    assert compare(here, "cloudcmp-2010#intra-rtt").code == DIFFER
    near = measured(tmp_path / "near", "ping", pings(0.0009, 0.0010, 0.0011), goodput=[])
    assert compare(near, "cloudcmp-2010#intra-rtt").code == AGREE  # at most 2 ms


def test_pings_without_a_reply_and_other_tools_have_no_rtt(compare: Compare, tmp_path: Path) -> None:
    silent = measured(tmp_path / "silent", "ping", pings(None, None, None), goodput=[])
    said = compare(silent, "amazon-azure-2015#rtt-eu-ap-amazon")
    assert (said.code, "no valid or suspect trial has tool: ping" in said.err) == (REFUSED, True)
    flows = write_run(tmp_path / "flows", made(201e6, {"path.rtt": "201 ms"}), samples=False)
    assert compare(flows, "amazon-azure-2015#rtt-eu-ap-amazon").code == REFUSED
    part = measured(tmp_path / "part", "ping", pings(0.1999, 0.2010, None), goodput=[])
    assert compare(part, "amazon-azure-2015#rtt-eu-ap-amazon").code == CANNOT_TELL


def datagrams(lost: Sequence[int], sent: int, jitter_s: float = 0.0) -> list[dict[str, Any]]:
    return [
        {"sent_datagrams": sent, "lost_datagrams": each, "arrived_datagrams": sent - each, "jitter_mean_s": jitter_s}
        for each in lost
    ]


@pytest.mark.parametrize(
    ("lost", "sent", "code"),
    [
        ((3, 5, 7), 10_000, AGREE),
        ((490, 500, 510), 10_000, DIFFER),
        ((0, 1, 2), 10_000, CANNOT_TELL),  # each counts as 3, which is one case for all seeds
        ((0, 1, 2), 100, CANNOT_TELL),  # 3 of 100 are not shown to be at most 1 %
    ],
)
def test_a_loss_is_held_against_its_bound(
    compare: Compare, tmp_path: Path, lost: Sequence[int], sent: int, code: int
) -> None:
    run = measured(tmp_path / "run", "udp", datagrams(lost, sent))
    assert compare(run, f"{LINKS}#udp-loss").code == code


def test_no_loss_at_all_where_nothing_is_random_is_below_a_bound(compare: Compare, tmp_path: Path) -> None:
    def run(name: str, sent: int) -> Path:
        workload = {"tool": "udp", "rate": "1 Mbit/s", "flows": 1}
        cells = [Made({}, [1e6], seed, workload=workload, data={"measured": {"udp": each}})
                 for seed, each in enumerate(datagrams((0, 0), sent), 1)]  # fmt: skip
        return write_run(tmp_path / name, cells, samples=False)

    assert compare(run("many", 10_000), f"{LINKS}#udp-loss").code == AGREE
    assert compare(run("few", 100), f"{LINKS}#udp-loss").code == DIFFER  # may be 3 %, and nothing more is known
    assert compare(run("still", 10_000), f"{LINKS}#jitter").code == AGREE


def downloads(size: int, *mbit: float) -> list[dict[str, Any]]:
    """Two downloads of an object in each trial, 10 % below and above the mean, or 9, or 11."""
    return [
        {
            "objects": [{"object_bytes": size, "downloads": 2, "goodput_bps_mean": 1e6 * each}],
            "downloads": [
                {"number": number, "object_bytes": size, "status": 200, "elapsed_s": 8 * size / (1e6 * each * factor),
                 "first_byte_s": 0.1, "goodput_bps": 1e6 * each * factor}
                for number, factor in enumerate((1 - off, 1 + off))
            ],
        }
        for each, off in zip(mbit, (0.09, 0.1, 0.11), strict=True)
    ]  # fmt: skip


GOODPUT_US = "s3-cloudfront-2016#goodput-us"  # 3562 KiB/s are 29.18 Mbit/s


def test_the_goodput_of_an_object_is_that_of_downloads_of_its_size(compare: Compare, tmp_path: Path) -> None:
    size = 100 * 2**20
    run = measured(tmp_path / "run", "http", downloads(size, 29.0, 29.2, 29.4))
    assert compare(run, GOODPUT_US).code == AGREE
    assert compare(run, "s3-cloudfront-2016#goodput-us-from-us").code == DIFFER
    small = measured(tmp_path / "small", "http", downloads(2**20, 29.0, 29.2, 29.4))
    said = compare(small, GOODPUT_US)
    assert (said.code, "no valid or suspect trial has tool: http with this size" in said.err) == (REFUSED, True)
    cov = compare(run, "s3-cloudfront-2016#cov-s3", "--format", "json")
    assert json.loads(cov.out)["series"][0]["matches"][0]["points"][0]["measured"] == pytest.approx(0.1)
    assert cov.code == DIFFER


def test_the_rate_without_credit_is_the_goodput_after_the_knee(compare: Compare, tmp_path: Path) -> None:
    profile = "ec2-token-buckets-2020#c5-large-refill"

    def run(name: str, knee_s: float | None, mbit: float = 750) -> Path:
        shaper = {"asked_rate_bps": 1e10, "burst_bytes": 1, "refill_bps": 75e7, "knee_s": knee_s}
        stage = {"link": "path", "way": "forward", "paced": {"shaper": shaper}}
        cells = [replace(each, data={"stages": [stage], "steady_s": 5.0}) for each in made(1e6 * mbit, {})]
        return write_run(tmp_path / name, cells, samples=False, rate_bps=None)

    assert compare(run("after", 4.0), profile).code == AGREE
    assert compare(run("less", 4.0, 500), profile).code == DIFFER
    assert compare(run("before", 6.0), profile).code == REFUSED
    assert compare(run("never", None), profile).code == REFUSED


@pytest.mark.parametrize("name", published.names())
def test_each_number_is_compared_or_refused_with_a_reason(name: str) -> None:
    profile = published.find(name)[0]
    groups = {each.group for each in profile.compared.values()}
    assert groups | {*profile.refused} == {*profile.facts, *profile.series}
    assert not groups & {*profile.refused}
    assert groups, "testbed compare can judge nothing by it"
    for refused in profile.refused:
        with pytest.raises(UserError, match=rf"^no run can be compared with {refused}: .+; allowed: "):
            published.find(f"{name}#{refused}")
    for each in groups:
        assert published.find(f"{name}#{each}")[1] == each


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("s3-cloudfront-2016#clients", "it counts sites, and a trial has no such number"),
        ("s3-cloudfront-2016#goodput-small", "the publication prints no number for it"),
        ("amazon-azure-2015#tcp-mean-gain", "it is a share or a ratio"),
        ("amazon-azure-2015#tcp-p75-amazon", "the profile names no metric of one trial for it"),
        ("rfc9438#reno-loss-for-rate", "it is over throughput, and a run has no such axis"),
    ],
)
def test_what_no_run_can_have_is_refused_by_its_name(number: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        published.find(number)


FACTS = """\
name: mine
about: Ours.
citation: {authors: [We], title: Our lab}
facts:
  one:
    what: A number
    of: {size: 1 MiB, rtt: 10 ms}
    value: 10 Mbit/s
    certainty: exact
    metric: object-goodput
    where: our lab
"""


@pytest.mark.parametrize(
    ("right", "wrong", "line", "said"),
    [
        ("metric: object-goodput", "metric: object-speed", 10, "'object-speed' is no metric of a trial"),
        ("value: 10 Mbit/s", "value: 10 ms", 10, "object-goodput is in bit/s, and this is in s"),
        ("size: 1 MiB, ", "", 7, "object-goodput needs the size that the publication states"),
        ("size: 1 MiB", "size: large", 7, "large"),
        ("size: 1 MiB", "size: 0 B", 7, "a size of 0 B is none"),
        ("rtt: 10 ms", "rtt: far", 7, "'far' is no RTT"),
        ("size: 1 MiB,", "size: 1 MiB, flows: many,", 7, "'many' is no number of flows"),
    ],
)
def test_a_number_that_cannot_be_what_it_says_is_refused_with_its_line(
    tmp_path: Path, right: str, wrong: str, line: int, said: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(FACTS)
    assert [*published.load(path).compared] == ["one"]
    assert right in FACTS
    path.write_text(FACTS.replace(right, wrong))
    with pytest.raises(SpecError) as caught:
        published.load(path)
    assert any(f"{path}:{line}: " in str(each) and said in str(each) for each in caught.value.problems), caught.value


def test_a_goodput_over_the_size_of_objects_is_not_that_of_the_whole_trial(compare: Compare, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\nabout: Ours.\ncitation: {authors: [We], title: Our lab}\nseries:\n  sizes:\n    what: Goodput\n"
        "    of: {rtt: 10 ms}\n    over: size\n    certainty: exact\n    where: our lab\n    points:\n"
        "      - {at: 1 MiB, value: 50.0 Mbit/s}\n      - {at: 2 MiB, value: 29.2 Mbit/s}\n"
    )
    run = measured(tmp_path / "run", "http", downloads(2 * 2**20, 29.0, 29.2, 29.4))
    said = compare(run, f"{path}#sizes")
    assert (said.code, "it is over size, and goodput does not depend on it" in said.err) == (REFUSED, True)
    path.write_text(path.read_text().replace("over: size", "over: size\n    metric: object-goodput"))
    assert compare(run, path).code == CANNOT_TELL  # 1 MiB is missing
    assert compare(run, f"{path}#sizes at 2 MiB").code == AGREE
    assert compare(run, f"{path}#sizes at 1 MiB").code == REFUSED


def test_any_metric_of_a_trial_can_be_published(compare: Compare, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(FACTS.replace("object-goodput", "rtt-p95").replace("10 Mbit/s", "50.0 ms"))
    run = write_run(tmp_path / "run", made(50e6, {"path.rtt": "10 ms"}, path={"jitter": "1 us"}))
    found = json.loads(compare(run, path, "--format", "json").out)
    (match,) = found["series"][0]["matches"]
    assert (match["unit"], match["points"][0]["measured"]) == ("s", pytest.approx(0.05))
    assert match["points"][0]["verdict"] == "cannot tell"  # all seeds have the same samples
    path.write_text(path.read_text().replace("50.0 ms", "10.0 ms"))
    found = json.loads(compare(run, path, "--format", "json").out)
    assert found["verdict"] == "cannot tell"


def test_the_names_of_metrics_are_those_of_the_table() -> None:
    assert {"goodput", "window", "ping-p95", "fct", "object-time"} <= {*quantity.names()}
    with pytest.raises(ValueRefused, match=r"'gooput' is no metric of a trial"):
        quantity.of_number("gooput", "bit/s", {})
    assert "did you mean 'goodput'?" in str(quantity_refusal("gooput"))


def quantity_refusal(name: str) -> str:
    with pytest.raises(ValueRefused) as caught:
        quantity.of_number(name, "bit/s", {})
    return str(caught.value.allowed)


def test_a_figure_of_numbers_that_are_no_throughput(compare: Compare, tmp_path: Path) -> None:
    run = losses(tmp_path / "run", RENO)
    assert compare(run, f"{RFC}#reno-100ms", "--common-rtts", "-o", tmp_path / "figure.svg").code == AGREE
    assert (tmp_path / "figure.svg").stat().st_size > 0
    labels = [value_label(quantity.QUANTITIES[name]) for name in ("window", "ping-mean", "udp-loss", "transfer")]
    assert labels == [
        "segments in flight of a flow (segments)", "mean of the RTTs of the workload's pings (ms)",
        "share of datagrams lost (%)", "throughput (Mbit/s)",
    ]  # fmt: skip


def test_a_figure_has_one_unit(compare: Compare, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = FACTS.replace("    metric: object-goodput\n", "    claim: shape\n").replace("of: {size: 1 MiB, ", "of: {")
    second = text.partition("facts:\n")[2].replace("one:", "two:").replace("10 Mbit/s", "8.63 segments")
    path.write_text(text + second)
    run = write_run(tmp_path / "run", made(10e6, {"path.rtt": "10 ms"}), samples=False)
    assert {*verdicts(compare(run, path, "--format", "json").out).values()} == {"agree"}
    said = compare(run, path, "-o", tmp_path / "figure.svg")
    assert (said.code, "a figure has one unit, and these have 2: one, two" in said.err) == (REFUSED, True)
    assert not (tmp_path / "figure.svg").exists()


def own_series(path: Path, over: str, points: Sequence[str], of: str = "rtt: 10 ms", more: str = "") -> Path:
    path.write_text(
        "name: mine\nabout: Ours.\ncitation: {authors: [We], title: Our lab}\nseries:\n  mine:\n    what: Numbers\n"
        f"    of: {{{of}}}\n    over: {over}\n    certainty: exact\n    claim: shape\n    where: our lab\n{more}"
        "    points:\n" + "".join(f"      - {{{each}}}\n" for each in points)
    )
    return path


TEN = "value: 10.00 Mbit/s"


@pytest.mark.parametrize(
    ("over", "of", "more", "points", "said"),
    [
        ("window", "", "", [f"at: 4 KiB, {TEN}", "at: 8 KiB, value: -5 Mbit/s"], ":14: value: '-5 Mbit/s' is negative"),
        ("window", "", "", ["at: 4 KiB, at_least: 9 Mbit/s, at_most: 8 Mbit/s, certainty: bound"], "no number is both"),
        ("window", "", "", [f"at: 4 KiB, {TEN}, sd: -1 Mbit/s, runs: 3"], "'-1 Mbit/s' is negative"),
        ("window", "", "    capacity: 1 Gbit/s\n", [f"at: 4 KiB, {TEN}"], "of: {rate: 1 Gbit/s}"),
        ("window", "", "    capacity: 5 ms\n", [f"at: 4 KiB, {TEN}"], "'5 ms' is no rate"),
        ("rtt", "rtt: 200 ms", "", [f"at: 10 ms, {TEN}"], ":7: rtt: rtt is what its points are at"),
        (
            "rtt",
            "rate: 1 Gbit/s",
            "    capacity: 2 Gbit/s\n",
            [f"at: 10 ms, {TEN}"],
            "the rate stands in capacity, too",
        ),
        ("rtt", "", "    metric: ping-mean\n    capacity: 1 Gbit/s\n", ["at: 10 ms, value: 10 ms"], "normalizes"),
        (
            "window",
            "duration: 0 s",
            "    metric: transfer\n",
            ["at: 4 KiB, value: 10 MiB"],
            "a duration of 0 s is none",
        ),
    ],
)
def test_a_series_that_no_run_can_meet_or_that_contradicts_itself_is_refused(
    tmp_path: Path, over: str, of: str, more: str, points: Sequence[str], said: str
) -> None:
    with pytest.raises(SpecError) as caught:
        published.load(own_series(tmp_path / "mine.yaml", over, points, of, more))
    assert any(said in str(each) for each in caught.value.problems), caught.value


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("value: -10 Mbit/s", "'-10 Mbit/s' is negative"),
        ("at_least: 12 Mbit/s\n    at_most: 8 Mbit/s", "no number is both"),
        ("value: 10 Mbit/s\n    sd: -1 Mbit/s\n    runs: 3", "'-1 Mbit/s' is negative"),
    ],
)
def test_a_number_below_0_and_limits_that_exclude_each_other_are_refused(tmp_path: Path, wrong: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    text = FACTS.replace("value: 10 Mbit/s", wrong)
    path.write_text(text.replace("exact", "bound") if "at_least" in wrong else text)
    with pytest.raises(SpecError) as caught:
        published.load(path)
    assert any(said in str(each) for each in caught.value.problems), caught.value


@pytest.mark.parametrize("over", ["delay", "time"])
def test_times_that_are_no_rtt_are_not_compared_with_rtts(compare: Compare, tmp_path: Path, over: str) -> None:
    run = write_run(tmp_path / "run", made(10e6, {"path.rtt": "10 ms"}), samples=False)
    said = compare(run, f"{own_series(tmp_path / 'mine.yaml', over, [f'at: 10 ms, {TEN}'], '')}#mine")
    assert (said.code, f"it is over {over}, and a run has no such axis" in said.err) == (REFUSED, True)


def test_what_a_series_is_over_must_be_known_to_be_the_same(compare: Compare, tmp_path: Path) -> None:
    """A buffer in BDP says nothing about one in bytes, and another duration is another point."""
    run = write_run(tmp_path / "run", made(10e6, {"path.rtt": "10 ms"}), samples=False)  # 1 bdp, 10 s
    sizes = own_series(tmp_path / "sizes.yaml", "buffer", [f"at: 64 KiB, {TEN}", f"at: 1 MiB, {TEN}"])
    assert compare(run, sizes).code == REFUSED
    assert compare(run, f"{sizes}#mine at 64 KiB").code == CANNOT_TELL
    times = own_series(tmp_path / "times.yaml", "duration", [f"at: 10 s, {TEN}", f"at: 30 s, {TEN}"])
    assert compare(run, f"{times}#mine at 10 s").code == AGREE
    assert compare(run, f"{times}#mine at 30 s").code == CANNOT_TELL


def test_a_point_of_0_in_a_series_is_no_agreement(compare: Compare, tmp_path: Path) -> None:
    profile = own_series(tmp_path / "mine.yaml", "window", [f"at: 4 KiB, {TEN}", "at: 8 KiB, value: 0 Mbit/s"])
    cells = [each for window, bps in (("4 KiB", 10e6), ("8 KiB", 99e6))
             for each in made(bps, {"window": window, "path.rtt": "10 ms"}, workload={"window": window})]  # fmt: skip
    run = write_run(tmp_path / "run", cells, samples=False)
    said = compare(run, profile)
    assert (said.code, "mine at 8 KiB: a number is 0" in said.out) == (CANNOT_TELL, True)
    assert compare(run, profile, "--common-rtts").code == AGREE


def test_shares_of_the_rate_are_of_throughputs_with_a_capacity_only(compare: Compare, tmp_path: Path) -> None:
    """10 Mbit/s of 1 Gbit/s are another share than 10 Mbit/s of 100 Mbit/s."""
    run = write_run(tmp_path / "run", made(10e6, {"path.rtt": "10 ms"}), samples=False)
    profile = own_series(tmp_path / "mine.yaml", "rtt", [f"at: 10 ms, {TEN}"], "rate: 1 Gbit/s")
    assert compare(run, profile).code == CANNOT_TELL
    assert compare(run, profile, "--as-shares").code == CANNOT_TELL


def test_an_exact_run_agrees_with_itself_and_differs_from_another(
    compare: Compare, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(name: str, bps: float, seeds: int) -> Path:
        cells = [Made({"path.rtt": "10 ms"}, [bps], seed) for seed in range(1, seeds + 1)]
        return write_run(tmp_path / name, cells, samples=False)

    for seeds in (2, 3):
        here = run(f"run{seeds}", 10e6, seeds)
        path = tmp_path / "own.yaml"
        path.write_text(said_by(capsys, "results", here, "--format", "profile").out)
        assert compare(here, path).code == AGREE
        assert compare(run(f"more{seeds}", 11.2e6, seeds), path).code == DIFFER


def test_what_datagrams_bring_is_no_throughput_of_tcp(compare: Compare, tmp_path: Path) -> None:
    udp = measured(tmp_path / "udp", "udp", datagrams((3, 5, 7), 10_000), goodput=[77.8e6])
    tcp = write_run(tmp_path / "tcp", made(77.8e6, {}), samples=False)
    cubic = tmp_path / "cubic.yaml"
    fact = "what: Goodput, value: 77.8 Mbit/s, metric: goodput, certainty: exact, where: here"
    cubic.write_text(
        "name: cubic\nabout: One flow.\ncitation: {authors: [We], title: Ours}\nfacts:\n"
        f"  tcp: {{{fact}, of: {{congestion: cubic}}}}\n  any: {{{fact}}}\n"
    )
    for name in ("amazon-azure-2015#tcp-mean-amazon", f"{cubic}#tcp"):
        said = compare(udp, name)
        assert (said.code, "no valid or suspect trial has a goodput" in said.err) == (REFUSED, True), said.err
        assert compare(tcp, name).code in (AGREE, CANNOT_TELL)
    assert compare(udp, f"{cubic}#any").code in (AGREE, CANNOT_TELL)
