"""Text with a unit, to exact numbers and back."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed import units
from testbed.error import UserError, ValueRefused

# What one may write, its value in base units, and the canonical text of that.
READ: list[tuple[Callable[[str], Any], str, Any, str]] = [
    (units.parse_rate, "10 Gbit/s", 10**10, "10 Gbit/s"),
    (units.parse_rate, "1Gbit/s", 10**9, "1 Gbit/s"),
    (units.parse_rate, " 500  kbit/s ", 500_000, "500 kbit/s"),
    (units.parse_rate, "2.5 Gbit/s", 2_500_000_000, "2.5 Gbit/s"),
    (units.parse_rate, "0.5 Tbit/s", 5 * 10**11, "500 Gbit/s"),
    (units.parse_rate, "9.600 kbit/s", 9600, "9.6 kbit/s"),
    (units.parse_rate, "1 bit/s", 1, "1 bit/s"),
    (units.parse_rate, "0 bit/s", 0, "0 bit/s"),
    (units.parse_time, "100 ms", 100_000_000, "100 ms"),
    (units.parse_time, "2.5 us", 2500, "2.5 us"),
    (units.parse_time, "2.5 \u00b5s", 2500, "2.5 us"),
    (units.parse_time, "2.5\u03bcs", 2500, "2.5 us"),
    (units.parse_time, "0.000000001 s", 1, "1 ns"),
    (units.parse_time, "30 s", 30 * 10**9, "30 s"),
    (units.parse_time, "1500 ms", 1_500_000_000, "1.5 s"),
    (units.parse_time, "5 min", 300 * 10**9, "300 s"),
    (units.parse_time, "1 h", 3600 * 10**9, "3600 s"),
    (units.parse_time, "0", 0, "0 s"),
    (units.parse_time, "0 ms", 0, "0 s"),
    (units.parse_size, "64 KiB", 65536, "64 KiB"),
    (units.parse_size, "1 MB", 10**6, "1 MB"),
    (units.parse_size, "1500 B", 1500, "1500 B"),
    (units.parse_size, "1500 bytes", 1500, "1500 B"),
    (units.parse_size, "1.5 KiB", 1536, "1536 B"),
    (units.parse_size, "2 GiB", 2**31, "2 GiB"),
    (units.parse_size, "0.5 GB", 500_000_000, "500 MB"),
    (units.parse_size, "0 B", 0, "0 B"),
    (units.parse_packets, "1000 packets", 1000, "1000 packets"),
    (units.parse_packets, "1 packet", 1, "1 packet"),
    (units.parse_fraction, "0.1 %", Fraction(1, 1000), "0.1 %"),
    (units.parse_fraction, "0.001", Fraction(1, 1000), "0.1 %"),
    (units.parse_fraction, "1e-5", Fraction(1, 100_000), "0.001 %"),
    (units.parse_fraction, "1/3", Fraction(1, 3), "1/3"),
    (units.parse_fraction, "100%", Fraction(1), "100 %"),
    (units.parse_fraction, "0", Fraction(0), "0 %"),
    (units.parse_bdp, "1 bdp", Fraction(1), "1 bdp"),
    (units.parse_bdp, "0.02 bdp", Fraction(1, 50), "0.02 bdp"),
    (units.parse_bdp, "1/3bdp", Fraction(1, 3), "1/3 bdp"),
    (units.parse_one_in, "1 in 10000", 10_000, "1 in 10000"),
    (units.parse_one_in, "1 in 1", 1, "1 in 1"),
]
WRITE: dict[Callable[[str], Any], Callable[[Any], str]] = {
    units.parse_rate: units.format_rate,
    units.parse_time: units.format_time,
    units.parse_size: units.format_size,
    units.parse_packets: units.format_packets,
    units.parse_fraction: units.format_fraction,
    units.parse_bdp: units.format_bdp,
    units.parse_one_in: units.format_one_in,
}
PATTERNS: dict[Callable[[str], Any], str] = {
    units.parse_rate: units.RATE.pattern,
    units.parse_time: units.TIME.pattern,
    units.parse_size: units.SIZE.pattern,
    units.parse_packets: units.PACKETS.pattern,
    units.parse_fraction: units.FRACTION_PATTERN,
    units.parse_bdp: units.BDP_PATTERN,
    units.parse_one_in: units.ONE_IN_PATTERN,
}
# What is refused, words that the message must have, and whether the spelling alone is wrong already.
REFUSED: list[tuple[Callable[[str], Any], str, str, bool]] = [
    (units.parse_rate, "10", "no unit", True),
    (units.parse_rate, "10 Mbps", "did you mean 'Mbit/s'", True),
    (units.parse_rate, "10 gbit/s", "did you mean 'Gbit/s'", True),
    (units.parse_rate, "1 GB/s", "that is bytes", True),
    (units.parse_rate, "1 KiB/s", "that is bytes", True),
    (units.parse_rate, "1 parsec", "unknown unit 'parsec'", True),
    (units.parse_rate, "-1 bit/s", "negative", True),
    (units.parse_rate, "0.5 bit/s", "not a whole number of bit/s", False),
    (units.parse_rate, "fast", "not a rate", True),
    (units.parse_rate, "", "not a rate", True),
    (units.parse_rate, "1,5 Gbit/s", "not a rate", True),
    (units.parse_rate, "1_000 bit/s", "not a rate", True),
    (units.parse_rate, "1e9 bit/s", "unknown unit", True),
    (units.parse_rate, "1e30 Gbit/s", r"unknown unit 'e30 Gbit/s' in '1e30 Gbit/s': numbers have no exponent", True),
    (units.parse_rate, "nan bit/s", "not a rate", True),
    (units.parse_rate, f"{'9' * 5000} bit/s", "not a rate", True),
    (units.parse_rate, "\u0661 bit/s", "not a rate", True),
    (units.parse_time, "100", "no unit", True),
    (units.parse_time, "5 m", "'min' or 'ms'", True),
    (units.parse_time, "0.5 ns", "not a whole number of ns", False),
    (units.parse_time, "1.0001 us", "not a whole number of ns", False),
    (units.parse_time, "-5 ms", "negative", True),
    (units.parse_time, "1 MS", "did you mean 'ms'", True),
    (units.parse_size, "64 KB", "'KiB' (1024 B) or 'kB' (1000 B)", True),
    (units.parse_size, "64", "no unit", True),
    (units.parse_size, "0.3 B", "not a whole number of B", False),
    (units.parse_packets, "1.5 packets", "not a whole number of packets", False),
    (units.parse_packets, "100", "no unit", True),
    (units.parse_fraction, "101 %", "more than the whole", False),
    (units.parse_fraction, "-1 %", "negative", True),
    (units.parse_fraction, "1/0", "not a number", False),
    (units.parse_fraction, "1 permille", "unknown unit", True),
    (units.parse_fraction, "1e-999", "unknown unit", True),
    (units.parse_bdp, "1", "bandwidth-delay products", True),
    (units.parse_bdp, "-1 bdp", "negative", True),
    (units.parse_one_in, "1:10000", "1 in X", True),
    (units.parse_one_in, "2 in 10", "1 in X", True),
    (units.parse_one_in, "1 in -5", "1 in X", True),
]


@pytest.mark.parametrize(("parse", "text", "value", "canonical"), READ)
def test_text_becomes_the_exact_value_and_the_value_its_canonical_text(
    parse: Callable[[str], Any], text: str, value: Any, canonical: str
) -> None:
    assert parse(text) == value
    assert WRITE[parse](value) == canonical
    assert parse(canonical) == value


@pytest.mark.parametrize(("parse", "text", "words", "misspelt"), REFUSED)
def test_what_is_not_exact_or_not_known_is_refused_with_what_would_be_allowed(
    parse: Callable[[str], Any], text: str, words: str, misspelt: bool
) -> None:
    with pytest.raises(ValueRefused, match=re.escape(words)) as refused:
        parse(text)
    assert refused.value.allowed
    assert isinstance(refused.value, UserError)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(("parse", "text"), [(case[0], case[1]) for case in READ if case[1] != "0" or case[2]])
def test_the_pattern_for_editors_takes_what_the_parser_takes(parse: Callable[[str], Any], text: str) -> None:
    assert re.search(PATTERNS[parse], text)


@pytest.mark.parametrize(("parse", "text"), [(case[0], case[1]) for case in REFUSED if case[3]])
def test_the_pattern_for_editors_refuses_what_is_misspelt(parse: Callable[[str], Any], text: str) -> None:
    assert not re.search(PATTERNS[parse], text)


@given(st.integers(min_value=0, max_value=10**24))
def test_every_whole_number_survives_being_written(value: int) -> None:
    for parse in (
        units.parse_rate,
        units.parse_time,
        units.parse_size,
        units.parse_packets,
        units.parse_one_in,
    ):
        assert parse(WRITE[parse](value)) == value


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**9))
def test_every_fraction_survives_being_written(value: Fraction) -> None:
    for parse in (units.parse_fraction, units.parse_bdp):
        assert parse(WRITE[parse](value)) == value


@given(st.text())
def test_any_text_is_either_read_or_refused(text: str) -> None:
    for parse in WRITE:
        try:
            value = parse(text)
        except ValueRefused:
            continue
        assert parse(WRITE[parse](value)) == value


def test_one_of_something_is_not_many() -> None:
    assert [units.counted(count, "trial") for count in (0, 1, 2)] == ["0 trials", "1 trial", "2 trials"]
    assert [units.counted(count, "series") for count in (0, 1, 2)] == ["0 series", "1 series", "2 series"]


def test_a_small_share_is_not_printed_as_nothing() -> None:
    """Two decimals of a per cent make 0.00% of a loss of 0.001 %."""
    shown = [units.percent(share) for share in (0, 0.00001, 0.000099, 0.0001, 0.0125, 1, 3.2e-7, -0.00002)]
    assert shown == ["0.00%", "0.0010%", "0.0099%", "0.01%", "1.25%", "100.00%", "0.000032%", "-0.0020%"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("4.5 Tbit", "562.5 GB"), ("2.6 Tbit", "325 GB"), ("64 kbit", "8 kB"), ("524288 bit", "64 KiB"), ("8 bit", "1 B")],
)
def test_a_volume_of_bits_is_printed_in_few_digits(text: str, words: str) -> None:
    """4.5 Tbit are 562500 MB, the largest unit of which they are a whole number."""
    octets = units.parse_bits(text) // 8
    assert units.size_words(octets) == words
    assert units.parse_size(units.size_words(octets)) == octets
