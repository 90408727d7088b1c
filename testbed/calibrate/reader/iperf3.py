"""iperf3's JSON: TCP and UDP, any number of flows, either direction, its intervals; several documents in one file.

Reads text; the format is that of iperf3 3.1 to 3.19, and of `--json-stream`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from ...trial.workload import iperf3_sums
from ..measurement import Ask, Measurement, Reading, Second, Transfer, refused

FORMAT = "iperf3"
SUMS_DIFFER = 0.01
"""By which share numbers for the same thing may differ: versions round, and count the last message or not."""
COVERED = 0.5
"""So much of a run its intervals have at least; of one with less, some are missing."""
SHORTEST_SHARE = 0.1
"""The last interval of a run may be a rest; one that is shorter than this share of the others tells no rate."""


class _Contradiction(Exception):
    """Two numbers for the same thing differ."""


def is_it(text: str) -> bool:
    """Whether a text is meant as iperf3's JSON, perhaps cut short, or with a warning before it."""
    head = text[:4000]
    names = '"start"' in head and ('"connect' in head or '"version"' in head)
    return '"test_start"' in head or (
        head.lstrip().startswith("{") and ('"event"' in head or '"error"' in text or names)
    )


def read(file: str, text: str) -> Reading:
    """Raises SpecError for text that is cut short, and for a run with an error inside."""
    found = tuple(_measurement(file, text, line, run) for line, run in _runs(file, text))
    told, untold = _told(found)
    return Reading(file, FORMAT, found, told, untold)


def _runs(file: str, text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each document with the line where it begins."""
    if '"event"' in text[:200]:
        yield 1, _streamed(file, text)
        return
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        at += len(text[at:]) - len(text[at:].lstrip())
        if at == len(text):
            return
        line = text.count("\n", 0, at) + 1
        try:
            run, at = decoder.raw_decode(text, at)
        except RecursionError:
            raise refused(file, line, "this JSON is nested too deeply", "what iperf3 --json prints") from None
        except json.JSONDecodeError as error:
            where = text.count("\n", 0, error.pos) + 1
            what = "the JSON is cut short" if error.pos >= len(text.rstrip()) - 1 else f"this is no JSON: {error.msg}"
            raise refused(file, where, what, "the whole output of iperf3 --json") from None
        if not isinstance(run, dict):
            raise refused(file, line, "this JSON is no object", "what iperf3 --json prints")
        yield line, run


def _streamed(file: str, text: str) -> dict[str, Any]:
    run: dict[str, Any] = {"intervals": []}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            name, data = event["event"], event["data"]
        except (ValueError, KeyError, TypeError, RecursionError):
            raise refused(file, number, "this line is no event", "what iperf3 --json-stream prints") from None
        if name == "interval":
            run["intervals"].append(data)
        elif name in ("start", "end", "error"):
            run[name] = data
    return run


def _measurement(file: str, text: str, line: int, run: dict[str, Any]) -> Measurement:
    if "error" in run:
        said = str(run["error"])[:200]
        raise refused(file, _line_after(text, line, '"error"'), f"iperf3 failed: {said}", "a run without an error")
    try:
        return _read(file, run)
    except _Contradiction as error:
        raise refused(file, line, f"this run contradicts itself: {error}", "what iperf3 --json prints") from None
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, AttributeError) as error:
        said = f"{type(error).__name__}: {error}"[:120]
        raise refused(file, line, f"this run lacks what iperf3 --json prints ({said})", "the whole output") from None


def _line_after(text: str, line: int, word: str) -> int:
    begin = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
    return text.count("\n", 0, max(text.find(word, begin), 0)) + 1


def _read(file: str, run: Mapping[str, Any]) -> Measurement:
    start, end, test = run["start"], run["end"], run["start"]["test_start"]
    if not end:
        raise ValueError("end is empty: the run was interrupted")
    if test.get("bidir"):
        raise ValueError("bidir: both directions at once are not read, measure them one after the other")
    is_server = "accepted_connection" in start
    protocol = "udp" if str(test["protocol"]).upper() == "UDP" else "tcp"
    is_reverse = bool(test["reverse"])
    heard = run.get("server_output_json")
    rate_bps = float(test.get("target_bitrate") or start.get("target_bitrate") or 0) or None
    if protocol == "udp" and rate_bps is None:
        rate_bps = float(end["sum"]["bits_per_second"]) / int(test["num_streams"])
    if int(test["duration"]) == 0:
        raise ValueError("it sent a number of bytes, not for a time (-n, -k)")
    ask = Ask(
        tool="iperf3",
        protocol=protocol,  # type: ignore[arg-type]
        flows=int(test["num_streams"]),
        duration_s=float(test["duration"]),
        reverse=is_reverse,
        congestion=end.get("sender_tcp_congestion") if protocol == "tcp" else None,
        window_bytes=int(start.get("sock_bufsize") or 0) or None,
        rate_bps=rate_bps,
        length_bytes=int(test["blksize"]) if protocol == "udp" else None,
        omit_s=float(test.get("omit") or 0),
    )
    by_receiver = is_reverse != is_server or isinstance(heard, dict)
    told = heard if isinstance(heard, dict) and not is_reverse else run
    transfer = _transfer(run, told, ask, by_receiver)
    for each in (run, heard) if isinstance(heard, dict) and heard.get("end") else (run,):
        for what in iperf3_sums.contradictions(each, SUMS_DIFFER):
            raise _Contradiction(what)
    covered_s = sum(each.end_s - each.start_s for each in transfer.seconds)
    if transfer.seconds and covered_s < COVERED * (ask.duration_s or 0.0):
        raise ValueError(f"its intervals are {covered_s:g} of {ask.duration_s:g} s")
    starts_s = start.get("timestamp", {}).get("timesecs")
    return Measurement(
        file,
        ask,
        transfer=transfer,
        way=ask.way,
        starts_s=None if starts_s is None else float(starts_s),
        ends_s=None if starts_s is None else float(starts_s) + ask.omit_s + (ask.duration_s or 0),
        other_end=_peer(start),
    )


def _peer(start: Mapping[str, Any]) -> str | None:
    """The address of the other end, as pings have it; the name that the user gave where none is told."""
    connected = (start.get("connected") or [{}])[0].get("remote_host")
    named = start.get("connecting_to", {}).get("host") or (start.get("accepted_connection") or {}).get("host")
    peer = connected or named
    return None if peer is None else str(peer).removeprefix("::ffff:")


def _transfer(run: Mapping[str, Any], told: Mapping[str, Any], ask: Ask, by_receiver: bool) -> Transfer:
    end, mss = run["end"], run["start"].get("tcp_mss_default") or run["start"].get("tcp_mss")
    seconds = tuple(_seconds(told, run))
    if ask.protocol == "udp":
        total = end.get("sum_received") or end["sum"]
        lost, sent = int(end["sum"]["lost_packets"]), int(end["sum"]["packets"])
        took_s = _positive(float(total.get("seconds") or end["sum"]["seconds"]))  # a full queue empties after the end
        got = (sent - lost) * (ask.length_bytes or 0) * 8 / took_s
        return Transfer(
            goodput_bps=_finite(got),
            seconds=seconds,
            by_receiver=by_receiver,
            lost=lost,
            datagrams=sent,
            jitter_s=float(total["jitter_ms"]) / 1000,
        )
    received, sent_sum = end["sum_received"], end["sum_sent"]
    senders = [each["sender"] for each in end["streams"]]
    goodput = _finite(float(received["bits_per_second"]))
    if goodput <= 0 or not seconds:
        raise ValueError("nothing arrived")
    resent = sent_sum.get("retransmits")
    windows = [float(each["max_snd_wnd"]) for each in senders if each.get("max_snd_wnd")]
    rtts = [float(each["min_rtt"]) / 1e6 for each in senders if each.get("min_rtt")]
    return Transfer(
        goodput_bps=goodput,
        seconds=seconds,
        flows_bps=tuple(float(each["receiver"]["bits_per_second"]) for each in end["streams"]),
        by_receiver=by_receiver,
        retransmits=None if resent is None else int(resent),
        segments=float(sent_sum["bytes"]) / float(mss) if mss else None,
        mss_bytes=int(mss) if mss else None,
        window_limit_bytes=max(windows) if windows else None,
        rtt_min_s=min(rtts) if rtts else None,
    )


def _seconds(told: Mapping[str, Any], run: Mapping[str, Any]) -> Iterator[Second]:
    """The intervals that were not omitted; RTTs and windows are the sender's, if it tells them."""
    own = {round(float(each["sum"]["start"]), 1): each["streams"] for each in run["intervals"]}
    lengths = [float(each["sum"]["seconds"]) for each in told["intervals"]]
    for each in told["intervals"]:
        total = each["sum"]
        took_s = float(total["seconds"])
        if total.get("omitted") or took_s <= 0 or took_s < SHORTEST_SHARE * max(lengths):
            continue
        streams = own.get(round(float(total["start"]), 1), each["streams"])
        resent = total.get("retransmits")
        begin_s = float(total["start"])
        yield Second(
            begin_s,
            begin_s + took_s,
            _finite(float(total["bytes"])),
            None if resent is None else int(resent),
            tuple(float(one["rtt"]) / 1e6 for one in streams if one.get("rtt")),
            tuple(float(one["snd_cwnd"]) for one in streams if one.get("snd_cwnd")),
        )


def _finite(value: float) -> float:
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{value} is no number of 0 or more")
    return value


def _positive(value: float) -> float:
    if not value > 0:
        raise ValueError(f"{value} is not above 0")
    return value


def _told(found: tuple[Measurement, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    told: dict[str, None] = {}
    untold: dict[str, None] = {}
    for each in found:
        transfer, ask = each.transfer, each.ask
        assert transfer is not None, "BUG: an iperf3 run without a transfer"
        assert ask is not None, "BUG: an iperf3 run that nobody asked for"
        told[f"goodput {transfer.goodput_bps / 1e6:.4g} Mbit/s ({ask.said()})"] = None
        if ask.protocol == "udp":
            told[f"{transfer.lost} of {transfer.datagrams} datagrams lost, jitter"] = None
            untold["round-trip times"] = None
            continue
        has_rtts = any(second.rtts_s for second in transfer.seconds)
        (told if has_rtts else untold)["round-trip times and windows of each interval"] = None
        (told if transfer.retransmits is not None else untold)["retransmissions"] = None
        if ask.congestion is None:
            untold["the congestion control (--version 3.1.5 or later tells it)"] = None
        if ask.window_bytes is None:
            untold["the socket buffers that autotuning chose"] = None
    return tuple(told), tuple(untold)
