"""The model of windows, where it can be worked out by hand."""

import pytest

from benchmarks import windows
from benchmarks.windows import BULK, LOW, Card, transfer_mb

FULL = 1448 + 52 + 18


def in_30_s(octets: int, span_ns: int) -> float:
    return octets / span_ns * 1e9 * 30 / windows.MB


def test_a_window_that_fits_into_an_interval_passes_once_in_each() -> None:
    card = Card(fixed_ns=200_000)
    found = transfer_mb(5 * 1448, card, card, delay_ns=10_000)
    assert found == pytest.approx(in_30_s(5 * 1448, 200_000), rel=0.01)


def test_a_large_window_fills_the_line_whatever_the_cards_do() -> None:
    line = 1448 / (8 * (FULL + 20)) * 1e9 * 30 / windows.MB
    for card in (Card(fixed_ns=129_000), Card(fixed_ns=0), Card()):
        assert transfer_mb(1 << 20, card, card, delay_ns=10_000) == pytest.approx(line, rel=0.05)


def test_without_moderation_a_window_takes_its_round_trip() -> None:
    """Two segments on two wires, one after the other, the ACK of both, and the delay twice."""
    card = Card(fixed_ns=0)
    span_ns = 3 * 8 * (FULL + 20) + 2 * 8 * (64 + 20) + 2 * 50_000
    assert transfer_mb(2 * 1448, card, card, delay_ns=50_000) == pytest.approx(in_30_s(2 * 1448, span_ns), rel=0.01)


def test_an_interrupt_of_more_than_10000_bytes_slows_the_driver_and_few_bytes_speed_it_up_in_steps() -> None:
    card = Card()
    for received, sent, expected in (
        ([FULL] * 6, [], 20_000),
        ([FULL] * 7, [], 4_000),
        ([FULL] * 4, [], 4_000),
        ([FULL] * 3, [], 9_000),
        ([FULL] * 3, [], 14_000),
        ([], [FULL] * 7, 4_000),
    ):
        card.saw(received, sent)
        assert card.a_second == expected
    assert card.classes == [LOW, BULK]


def test_an_unknown_mechanism_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        windows.main(["half-duplex"])
    assert refused.value.code == 2
    assert "there is no mechanism half-duplex; allowed: delay, " in capsys.readouterr().err
