"""struct tcp_info: decoded from bytes made by hand, from shorter ones of older kernels, and from a real trial."""

from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testbed.trial.observe.tcp_info import FIELDS, decode

WHOLE = 248
"""sizeof(struct tcp_info) as far as it is decoded; kernels have longer ones."""


def made(**raw: int) -> bytes:
    data = bytearray(WHOLE)
    for field in FIELDS:
        struct.pack_into(f"={field.code}", data, field.offset, raw.get(field.name, 0))
    return bytes(data)


def test_times_are_seconds_rates_are_bits_and_windows_bytes() -> None:
    found = decode(made(srtt_s=366_000, pacing_rate_bps=1_250_000_000, snd_wnd_bytes=2**30, busy_s=1, snd_cwnd=10))
    assert found["srtt_s"] == pytest.approx(0.366)
    assert found["pacing_rate_bps"] == 10e9
    assert found["snd_wnd_bytes"] == 2**30
    assert found["busy_s"] == pytest.approx(1e-6)
    assert found["snd_cwnd"] == 10


def test_what_the_kernel_never_measured_is_none() -> None:
    found = decode(made(min_rtt_s=2**32 - 1, snd_ssthresh=2**31 - 1, pacing_rate_bps=2**64 - 1))
    assert found["min_rtt_s"] is found["snd_ssthresh"] is found["pacing_rate_bps"] is None


@pytest.mark.parametrize("length", [0, 1, 8, 104, 192, 232, 240])
def test_an_older_kernel_has_fewer_fields_and_the_rest_is_none(length: int) -> None:
    found = decode(made(state=1, total_rto=3, snd_wnd_bytes=5)[:length])
    for field in FIELDS:
        ends = field.offset + struct.calcsize(field.code)
        assert (found[field.name] is None) == (ends > length)


def test_a_newer_kernel_has_more_and_the_rest_is_left_out() -> None:
    assert decode(made(state=1) + bytes(64)) == decode(made(state=1))


def test_no_two_fields_overlap() -> None:
    ends = [(field.offset, field.offset + struct.calcsize(field.code)) for field in FIELDS]
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))


@given(st.binary(max_size=300))
def test_any_bytes_decode(data: bytes) -> None:
    assert decode(data).keys() == {field.name for field in FIELDS}
