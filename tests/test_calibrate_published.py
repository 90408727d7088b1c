"""`testbed calibrate PROFILE#NAME`: which link comes nearest to published means, and what they do not tell."""

from __future__ import annotations

from pathlib import Path

import pytest
from comparing import said_by

from testbed.analysis import tcp_model
from testbed.calibrate.candidate import Explained, explained, scenario, topology
from testbed.compare import published
from testbed.error import UserError
from testbed.spec.load import load_scenario

FULL_BPS = 10e9 * 1448 / 1514


def profile(folder: Path, rows: dict[int, dict[float, float]], capacity: str = "10 Gbit/s", **of: str) -> Explained:
    """Series for each number of flows: throughputs in bit/s by RTT in s."""
    lines = ["name: mine", "about: Ours.", "citation: {authors: [We], title: Our lab}", "series:"]
    for flows, points in rows.items():
        stated = {"congestion": "cubic", "flows": f"{flows}", **of}
        lines += [
            f"  f{flows}:",
            "    what: Throughput",
            f"    of: {{{', '.join(f'{key}: {value}' for key, value in stated.items())}}}",
            "    over: rtt",
            "    certainty: exact",
            f"    capacity: {capacity}",
            "    where: our lab",
            "    points:",
            *(f"      - {{at: {1e3 * rtt:g} ms, value: {rate / 1e6:.3f} Mbit/s}}" for rtt, rate in points.items()),
        ]
    path = folder / "mine.yaml"
    path.write_text("\n".join(lines) + "\n")
    return explained([published.find(str(path))])


def test_a_window_that_limits_is_found_again(tmp_path: Path) -> None:
    rates = {
        flows: {rtt: min(FULL_BPS, flows * 8 * 50e6 / rtt) for rtt in (0.01, 0.1, 0.3)} for flows in (1, 4)
    }  # fmt: skip
    found = profile(tmp_path, rates)
    best = found.candidates[0]
    assert best.name == "a window for each flow"
    assert float(best.number.split()[0]) == pytest.approx(50, rel=2e-3)
    assert best.rms < 2e-3
    assert found.as_near == (best,)
    assert found.candidates[1].rms > 0.1


def test_a_loss_is_found_again_and_told_from_a_window(tmp_path: Path) -> None:
    def rate(flows: int, rtt: float) -> float:
        window = tcp_model.cubic_window_segments(1e-6, rtt)
        return min(FULL_BPS, flows * tcp_model.window_throughput_bps(window, rtt, 1448))

    found = profile(tmp_path, {flows: {rtt: rate(flows, rtt) for rtt in (0.02, 0.1, 0.3)} for flows in (1, 4)})
    best = found.candidates[0]
    assert best.name == "a loss"
    assert float(best.number.removeprefix("1 in ")) == pytest.approx(1e6, rel=0.01)
    assert found.as_near == (best,)


def test_a_cap_of_each_flow_is_found_again(tmp_path: Path) -> None:
    found = profile(tmp_path, {flows: {rtt: min(FULL_BPS, flows * 1e9) for rtt in (0.01, 0.3)} for flows in (1, 4)})
    assert (found.candidates[0].name, found.candidates[0].rms < 2e-3) == ("a cap for each flow", True)
    assert "per_flow: 999.42 Mbit/s" in topology(found)  # the grid is that fine


def test_one_flow_at_one_long_rtt_does_not_tell_a_loss_from_a_window(tmp_path: Path) -> None:
    found = profile(tmp_path, {1: {0.001: FULL_BPS, 0.3: 1e9}})
    assert {each.name for each in found.as_near} == {"a loss", "a window for each flow"}
    assert found.apart is not None
    loss, window = (each.at(found.apart) for each in sorted(found.as_near, key=lambda each: each.name))
    assert window > 2 * loss  # 1 / RTT against 1 / sqrt(sqrt(RTT))
    assert any("one number of flows was published" in each for each in found.untold)


def test_a_control_without_a_law_has_no_loss_and_no_buffer(tmp_path: Path) -> None:
    found = profile(tmp_path, {1: {0.001: FULL_BPS, 0.3: 1e9}}, congestion="bbr")
    assert {each.name for each in found.candidates} & {"a loss", "a short buffer"} == set()


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (["rfc9438#cubic-10ms"], "is no throughput over RTT of a known number of flows"),
        (["google-cloud-emulated#cloud-cubic-10-flows"], "there is one point, 10 flows at 300 ms"),
        (["skyplane-2022#aws-aws"], "these series have no one rate of the link"),
        (["google-cloud-emulated#cloud-80ms"], "is no throughput over RTT of a known number of flows"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_the_reason(names: list[str], why: str) -> None:
    with pytest.raises(UserError, match=why):
        explained([published.find(each) for each in names])


GOOGLE = [f"google-cloud-emulated#cloud-cubic-{flows}" for flows in ("1-flow", "10-flows")]


def test_the_series_of_googles_network_are_not_those_of_one_link(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """10 flows are published below what any link of 10 Gbit/s does for them that gives one flow 4 Gbit/s at 340 ms."""
    code, out, _ = said_by(capsys, "calibrate", *GOOGLE, "-o", tmp_path / "out")
    said = " ".join(out.split())
    assert code == 0
    assert "nearest: a window for each flow, 170.1 MB, or a loss, 1 in 1.58e+07" in said
    assert "not identifiable: how long the flows ran" in said
    loaded = load_scenario(tmp_path / "out" / "scenario.yaml")
    assert len([*loaded.trials()]) == 6
    found = explained([published.find(each) for each in GOOGLE])
    assert not any(all(each.fits) for each in found.candidates)
    assert "340 ms, 1, cubic" in scenario(found)


def test_files_and_published_series_are_not_mixed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "ping.txt").write_text("nothing")
    code, _, err = said_by(capsys, "calibrate", GOOGLE[0], tmp_path / "ping.txt")
    assert code == 2
    assert "is no published series, and others are; allowed: files, or PROFILE#NAME" in err
