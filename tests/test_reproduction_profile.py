"""Rows of the throughput profile and of physical and virtual links: met by what is printed, and not by what is not."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import printed
import pytest
from printed import BASELINE, BRIDGED, MININET, SDN, VIRTUAL, Runs, Share, cloud, datagrams, links, profile, together

from testbed_reproductions import command
from testbed_reproductions.row import Judgement

ROWS = {row.id: row for row in command.ROWS}
Made = Callable[[], Runs]


def judged(id: str, runs: Runs) -> Judgement:
    judge = ROWS[id].judge
    assert judge is not None
    return judge({name: runs[name] for name in ROWS[id].scenarios})


def changed(**by: float) -> Share:
    """What is printed, but for the factor on what a test names: loss, control, flows and RTT, or parts of that."""

    def share(loss: str, control: str, flows: int, rtt_ms: int) -> float:
        usual = printed.emulated(loss, control, flows, rtt_ms)
        names = (loss, control, f"{flows} flows", f"{rtt_ms} ms")
        for words, factor in by.items():
            usual *= factor if all(word in names for word in words.split("/")) else 1.0
        return usual

    return share


def straight(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    return 1 - (1 - printed.emulated(loss, control, flows, 376)) * (rtt_ms - 1) / 375


def rising(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    return printed.emulated(loss, control, flows, {1: 376, 22: 183, 91: 91, 183: 22, 376: 1}[rtt_ms])


def flat(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    return 1.0


def zero(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    return 0.0


def halved(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    return printed.emulated(loss, control, flows, rtt_ms) / 2


def fewer_flows_first(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    return printed.emulated(loss, control, {1: 10, 2: 5, 5: 2, 10: 1}[flows], rtt_ms)


def more_loss_first(loss: str, control: str, flows: int, rtt_ms: int) -> float:
    flipped = dict(zip(printed.LOSSES, printed.LOSSES[::-1], strict=True))
    return printed.emulated(flipped[loss], control, flows, rtt_ms)


WRONG: dict[str, Share] = {
    each.__name__: each for each in (straight, rising, flat, zero, halved, fewer_flows_first, more_loss_first)
}
CONTRADICTS = {
    "S3-F2d-f": ("rising", "zero", "halved", "fewer_flows_first", "flat"),
    "S3-F3b": ("straight", "rising", "flat", "zero"),
    "S3-F7": ("straight", "rising", "flat", "zero", "fewer_flows_first", "more_loss_first"),
    "S3-F8": ("flat", "zero", "fewer_flows_first", "more_loss_first"),
    "S3-F9": ("straight", "zero", "halved"),
    "K1": ("rising", "zero", "halved"),
    "K2": ("straight", "rising", "flat", "zero"),
    "K3": ("straight", "flat", "zero", "more_loss_first"),
    "K4": ("flat", "zero", "fewer_flows_first"),
    "K7": ("flat", "zero", "fewer_flows_first"),
    "S3-F6": ("flat", "zero"),
    "K5": ("flat", "zero"),
    "S3-E3": ("zero", "more_loss_first", "flat"),
}


@pytest.mark.parametrize("id", [*CONTRADICTS, "S3-F5", "S3-SYS-T"])
def test_a_check_of_the_profile_is_met_by_what_is_printed(id: str) -> None:
    found = judged(id, profile())
    assert found.outcome == "pass", found.reasons


@pytest.mark.parametrize(("id", "wrong"), [(id, wrong) for id, every in CONTRADICTS.items() for wrong in every])
def test_a_check_of_the_profile_is_not_met_by_what_contradicts_it(id: str, wrong: str) -> None:
    assert judged(id, profile(WRONG[wrong])).outcome != "pass"


@pytest.mark.parametrize(
    ("id", "factors"),
    [
        ("K1", {"none/htcp/5 flows/1 ms": 0.94}),
        ("K2", {"none/22 ms": 0.5}),
        ("K4", {"none/5 flows": 0.9}),
        ("K5", {"none/htcp/376 ms": 0.9}),
        ("S3-F6", {"1 in 1000000/htcp/91 ms/1 flows": 0.9}),
        ("K7", {"none/cubic/376 ms/1 flows": 1.5}),
        ("S3-F5", {"none/scalable/91 ms/2 flows": 0.94}),
        ("S3-F5", {"none/htcp/91 ms/2 flows": 0.97, "none/scalable/91 ms/2 flows": 1.03}),  # each is near CUBIC
        ("S3-F7", {"1 in 500/cubic/22 ms/10 flows": 50.0}),
        ("S3-F7", {"1 in 10000/cubic/376 ms/1 flows": 3.0}),
        ("S3-F7", {"1 in 10000/cubic/376 ms/1 flows": 0.5}),  # ten flows gain twice as much as is printed
        ("S3-F9", {"none/htcp/10 flows": 0.8}),
        ("S3-F2d-f", {"none/cubic/91 ms/5 flows": 0.9}),
    ],
)
def test_one_cell_that_contradicts_a_check_is_enough(id: str, factors: dict[str, float]) -> None:
    found = judged(id, profile(changed(**factors)))
    assert found.outcome == "fail", found.reasons


@pytest.mark.parametrize("broken", [{"rate_bps": 1e9}, {"off_s": 1e-3}, {"missed": 1}])
def test_a_network_that_was_not_the_publications_fails_the_system_row(broken: dict[str, float]) -> None:
    assert judged("S3-SYS-T", profile(**broken)).outcome == "fail"  # type: ignore[arg-type]


def test_a_profile_whose_seeds_vary_more_than_the_bound_decides_nothing() -> None:
    """A point estimate would: the mean is what is printed."""
    steady = profile()
    for id, swing in (("S3-F8", 0.95), ("K3", 0.95), ("S3-F9", 0.3)):
        noisy = {name: noise(each, swing) for name, each in steady.items()}
        assert judged(id, noisy).outcome == "cannot tell", id


def noise(measured: printed.Measured, swing: float) -> printed.Measured:
    results = [
        printed.plain(each, goodput_bps=(each.goodput_bps or 0.0) * (1 + (each.seed - 2) * swing))
        for each in measured.results
    ]
    return printed.Measured.of(measured.scenario, "quick", results)


def same_everywhere(control: str, flows: int, rtt_ms: int) -> float:
    return 0.8


def of_one_flow(control: str, flows: int, rtt_ms: int) -> float:
    return printed.in_the_cloud(control, 11 - flows, rtt_ms)


def bbr_as_cubic(control: str, flows: int, rtt_ms: int) -> float:
    return printed.in_the_cloud({"bbr": "cubic", "cubic": "bbr"}.get(control, control), flows, rtt_ms)


@pytest.mark.parametrize("id", ["S3-F2a-c", "S3-F3a", "S3-F4", "K6", "S3-F9-C"])
def test_a_row_of_the_cloud_is_met_by_what_is_printed_and_not_by_a_flat_one(id: str) -> None:
    assert judged(id, together(profile(), cloud())).outcome == "pass", judged(id, together(profile(), cloud())).reasons
    wrong = {"S3-F3a": (), "S3-F4": (same_everywhere,), "K6": (same_everywhere,)}
    for share in wrong.get(id, (same_everywhere, of_one_flow)):
        assert judged(id, together(profile(), cloud(share))).outcome == "fail"


def far_above_with_ten_flows(control: str, flows: int, rtt_ms: int) -> float:
    usual = printed.in_the_cloud(control, flows, rtt_ms)
    return usual if control == "bbr" or flows == 1 else usual * 0.8


def htcp_far_below_with_ten_flows(control: str, flows: int, rtt_ms: int) -> float:
    return printed.in_the_cloud(control, flows, rtt_ms) * {("cubic", 10): 0.95, ("htcp", 10): 0.88}.get(
        (control, flows), 1
    )


@pytest.mark.parametrize("share", [far_above_with_ten_flows, htcp_far_below_with_ten_flows])
def test_with_ten_flows_all_are_to_be_comparable(share: Callable[[str, int, int], float]) -> None:
    found = judged("S3-F4", cloud(share))
    assert found.outcome == "fail", found.reasons
    assert "comparable with 10 flows" in found.reasons


def test_a_profile_that_does_not_fall_is_told_by_its_ends() -> None:
    """A bump in the middle makes it concave, and no step rises by more than the margin."""
    bump = {1: 0.90, 11: 0.915, 22: 0.93, 45: 0.945, 91: 0.945, 183: 0.93, 274: 0.915, 376: 0.90}
    found = judged("S3-F3b", profile(lambda loss, control, flows, rtt_ms: bump[rtt_ms]))
    assert found.outcome != "pass"
    assert "BBR is lower at 376 ms than at 1 ms" in found.reasons


@pytest.mark.parametrize("id", ["S3-F4", "K6", "S3-F9-C"])
def test_bbr_is_to_be_the_one_that_is_printed(id: str) -> None:
    assert judged(id, cloud(bbr_as_cubic)).outcome == "fail"


@pytest.mark.parametrize(("spread", "outcome"), [(0.01, "pass"), (1e-4, "cannot tell"), (1e-6, "fail"), (0.0, "fail")])
def test_a_noisy_path_varies_more_than_a_quiet_one_and_not_just_at_all(spread: float, outcome: str) -> None:
    assert judged("S3-F3a", together(profile(), cloud(spread=spread))).outcome == outcome


def with_cloud() -> Runs:
    return together(profile(), cloud())


CASES: dict[str, tuple[Made, tuple[tuple[str, Made], ...]]] = {
    "S3-E1": (
        printed.outlier,
        (
            ("the busy one has more", partial(printed.outlier, 8.1e9)),
            ("both are alike", partial(printed.outlier, 9e9, 9e9)),
            ("nothing is carried", partial(printed.outlier, 0.0, 0.0)),
        ),
    ),
    "S3-E2": (
        printed.buffers,
        (
            ("more than the buffer holds", partial(printed.buffers, 0.9, 1.01, 0.9)),
            ("not in proportion", partial(printed.buffers, 0.9, 0.6, 0.9)),
            ("nothing is carried", partial(printed.buffers, 0.0, 0.0, 0.0)),
        ),
    ),
    "S4-T2": (
        partial(links, "links-client-window", BASELINE),
        (
            ("it doubles from 8 to 16 KiB", partial(links, "links-client-window", (588, 1579, 2972, 3419))),
            ("it falls", partial(links, "links-client-window", BASELINE[::-1])),
            ("it is flat", partial(links, "links-client-window", (1000,) * 4)),
            ("nothing is carried", partial(links, "links-client-window", (0,) * 4)),
        ),
    ),
    "K8": (
        partial(links, "links-baseline", BASELINE),
        (
            ("it falls by 2 %", partial(links, "links-baseline", (792, 1814, 1770, 2773))),
            ("nothing is carried", partial(links, "links-baseline", (0,) * 4)),
        ),
    ),
    "K8-VM": (
        lambda: together(printed.switched(), links("links-bridged", BRIDGED)),
        (
            (
                "one kind hides the fall of another",
                lambda: together(printed.switched((*SDN[:3], 1000.0)), links("links-bridged", BRIDGED)),
            ),
        ),
    ),
    "S4-T3": (
        lambda: together(links("links-virtual", VIRTUAL), links("links-baseline-iperf3", BASELINE)),
        (
            ("above at 8 KiB too", lambda: machines((991.9, 1900, 4059, 10980))),
            ("below at 64 KiB", lambda: machines((991.9, 1700, 4059, 2000))),
            ("the same", lambda: machines(BASELINE)),
        ),
    ),
    "S4-T4": (
        lambda: together(printed.switched(), links("links-baseline-iperf3", BASELINE)),
        (
            (
                "above the machines",
                lambda: together(printed.switched(VIRTUAL, SDN), links("links-baseline-iperf3", BASELINE)),
            ),
            (
                "below the baseline at 64 KiB",
                lambda: together(printed.switched((*SDN[:3], 2000.0)), links("links-baseline-iperf3", BASELINE)),
            ),
            (
                "above the baseline at 4 KiB",
                lambda: together(printed.switched((900.0, *SDN[1:])), links("links-baseline-iperf3", BASELINE)),
            ),
        ),
    ),
    "K10": (
        printed.switched,
        (
            ("above at 8 KiB", partial(printed.switched, (447.7, 1800.0, 1646.0, 4127.0))),
            ("the same", partial(printed.switched, VIRTUAL)),
        ),
    ),
    "S4-T5-BR": (
        lambda: bridged(BRIDGED),
        (
            ("below at 4 KiB", lambda: bridged((700, *BRIDGED[1:]))),
            ("above at 64 KiB", lambda: bridged((*BRIDGED[:3], 3000))),
        ),
    ),
    "K11": (
        lambda: bridged(BRIDGED),
        (
            ("above at 64 KiB", lambda: bridged((*BRIDGED[:3], 3000))),
            ("only 0.5 % below at 64 KiB", lambda: bridged((*BRIDGED[:3], BASELINE[3] * 0.995))),
        ),
    ),
    "S4-T5-MN": (
        lambda: mininet(MININET),
        (
            ("below at 64 KiB", lambda: mininet((*MININET[:3], 2700))),
            ("only 0.5 % above at 64 KiB", lambda: mininet((*MININET[:3], BASELINE[3] * 1.005))),
        ),
    ),
    "K9": (lambda: mininet(MININET), (("the same", lambda: mininet(BASELINE)),)),
    "S4-E3": (
        printed.memory,
        (
            ("6 % more", partial(printed.memory, VIRTUAL, [each * 1.06 for each in VIRTUAL])),
            ("6 % less at one window", partial(printed.memory, VIRTUAL, (994.0, 1598.0, 4101.0, 10800.0))),
            ("nothing is carried", partial(printed.memory, (0,) * 4, (0,) * 4)),
        ),
    ),
    "K12": (printed.memory, (("6 % more", partial(printed.memory, VIRTUAL, [each * 1.06 for each in VIRTUAL])),)),
    **{
        id: (
            partial(datagrams, name),
            (
                ("jitter of 1 ms", partial(datagrams, name, 1e-3)),
                ("1 % lost", partial(datagrams, name, lost=10)),
                ("no jitter was reported", partial(datagrams, name, None)),
                ("nothing was sent", partial(datagrams, name, lost=0, sent=0)),
            ),
        )
        for id, name in (
            ("S4-E2", "links-udp"),
            ("K13", "links-udp"),
            ("K13-VM", "links-udp-virtual"),
            ("K13-MN", "links-udp-mininet"),
        )
    },
    "S4-TV": (
        printed.validation,
        (
            ("0.1 % more", partial(printed.validation, tool_bytes=50_940_000)),
            ("half as much", partial(printed.validation, 34927 * 730)),
        ),
    ),
}


def machines(mb: tuple[float, ...]) -> Runs:
    return together(links("links-virtual", mb), links("links-baseline-iperf3", BASELINE))


def bridged(mb: tuple[float, ...]) -> Runs:
    return together(links("links-bridged", mb), links("links-baseline-iperf3", BASELINE))


def mininet(mb: tuple[float, ...]) -> Runs:
    return together(links("links-mininet", mb), links("links-baseline", BASELINE))


@pytest.mark.parametrize("id", CASES)
def test_a_row_is_met_by_what_is_printed(id: str) -> None:
    found = judged(id, CASES[id][0]())
    assert found.outcome == "pass", found.reasons


@pytest.mark.parametrize(
    ("id", "made"),
    [pytest.param(id, made, id=f"{id}: {says}") for id, (_, wrong) in CASES.items() for says, made in wrong],
)
def test_a_row_is_not_met_by_what_contradicts_it(id: str, made: Made) -> None:
    assert judged(id, made()).outcome in ("fail", "cannot tell")


def test_repetitions_that_vary_too_much_decide_nothing() -> None:
    assert judged("K12", printed.memory(spread=0.05)).outcome == "cannot tell"


def test_every_row_of_both_publications_is_tried() -> None:
    tried = {*CONTRADICTS, *CASES, "S3-F5", "K6", "S3-SYS-T", "S3-F2a-c", "S3-F3a", "S3-F4", "S3-F9-C", "S3-EQ4", "K17"}
    rows = (*command.PUBLICATIONS["S3"], *command.PUBLICATIONS["S4"])
    assert tried == {row.id for row in rows if row.judge is not None}
