"""ndt7's results: the lines that `ndt7-client -format json` prints, and the archived rows of M-Lab. Reads text.

ndt7 is one TCP flow of 10 s, by specification with BBR at the server, so a download is BBR's; an upload is whatever the
client's kernel uses. iperf3 measures it again, as the tool needs a server of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..measurement import Ask, Measurement, Reading, Second, Transfer, refused, summed

FORMAT = "ndt7"
LENGTH_S = 10.0
TESTS = {"download": True, "upload": False}


def is_it(text: str) -> bool:
    head = text[:3000]
    return head.lstrip().startswith("{") and (
        ('"Key"' in head and '"Value"' in head)
        or ('"ServerMeasurements"' in text and ('"Download"' in text or '"Upload"' in text))
    )


def read(file: str, text: str) -> Reading:
    """Raises SpecError for lines that are no events, and for tests that failed."""
    tests: dict[str, list[Mapping[str, Any]]] = {}
    try:
        for line, name, value in _values(file, text):
            tests.setdefault(name, []).append({**value, "line": line})
        found = tuple(_measurements(file, tests))
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        what = f"a measurement lacks what ndt7 prints ({type(error).__name__}: {error})"
        raise refused(file, None, what[:160], "the lines of ndt7-client -format json") from None
    if not found:
        raise refused(file, None, "no measurement is in it", "the lines of ndt7-client -format json")
    told = tuple(_told(found))
    untold = (
        "round-trip times without load, unless the least of its TCP flow is one",
        "the congestion control of an upload",
        "more than one flow",
    )
    return Reading(file, FORMAT, found, told, untold, notes=("iperf3 makes a flow of the same length here",))


def _values(file: str, text: str) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """The measurements with their line and test."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            raise refused(file, number, "this line is no JSON, or is cut short", "a whole event in each line") from None
        if not isinstance(row, dict):
            raise refused(file, number, "this line is no object", "an event in each line")
        if row.get("Key") == "error":
            said = str(row["Value"].get("Failure"))[:200]
            raise refused(file, number, f"the test failed: {said}", "a test without an error")
        if row.get("Key") == "measurement":
            yield number, str(row["Value"]["Test"]), row["Value"]
        for name in TESTS:
            for each in (row.get(name.capitalize()) or {}).get("ServerMeasurements") or ():
                yield number, name, {**each, "Origin": "server"}


def _measurements(file: str, tests: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Measurement]:
    for name, is_download in TESTS.items():
        values = tests.get(name, [])
        seconds = _seconds(file, values, "client") or _seconds(file, values, "server")
        infos = [info for each in values if isinstance(info := each.get("TCPInfo"), dict)]
        if len(seconds) < 2:
            continue
        total_s = seconds[-1].end_s
        goodput = sum(each.octets for each in seconds) * 8 / total_s
        last = infos[-1] if infos else {}
        mss = last.get("SndMSS")
        least = [float(info["MinRTT"]) / 1e6 for info in infos if info.get("MinRTT")]
        transfer = Transfer(
            goodput_bps=goodput,
            seconds=tuple(seconds),
            flows_bps=(goodput,),
            by_receiver=is_download,
            retransmits=_retransmits(last),
            segments=float(last["BytesSent"]) / mss if mss and last.get("BytesSent") else None,
            mss_bytes=int(mss) if mss else None,
            rtt_min_s=min(least, default=None),
        )
        control = "bbr" if is_download else None
        ask = Ask("iperf3", "tcp", 1, LENGTH_S, is_download, control)
        yield Measurement(file, ask, transfer=transfer, way=ask.way)
        rtts = [float(info["RTT"]) / 1e6 for info in infos if info.get("RTT")]
        if rtts:
            yield Measurement(file, None, pings=summed(rtts, 1e-6, has_sd=False), is_loaded=True)


def _retransmits(info: Mapping[str, Any]) -> int | None:
    if "BytesRetrans" in info and info.get("SndMSS"):
        return round(float(info["BytesRetrans"]) / float(info["SndMSS"]))
    return int(info["TotalRetrans"]) if "TotalRetrans" in info else None


def _seconds(file: str, values: Sequence[Mapping[str, Any]], origin: str) -> list[Second]:
    """What was counted between two measurements of one end."""
    found: list[Second] = []
    at_s, octets = 0.0, 0.0
    for each in values:
        counted = _counted(each) if each.get("Origin", "client") == origin else None
        if counted is None:
            continue
        if counted[0] < at_s:
            raise refused(file, int(each["line"]), "the time of this measurement goes backward", "times that rise")
        if counted[0] > at_s and counted[1] >= octets:
            found.append(Second(at_s, counted[0], counted[1] - octets))
            at_s, octets = counted
    return found


def _counted(value: Mapping[str, Any]) -> tuple[float, float] | None:
    """Seconds and bytes so far: of the application, or of TCP."""
    app, tcp = value.get("AppInfo"), value.get("TCPInfo")
    if isinstance(app, dict):
        return float(app["ElapsedTime"]) / 1e6, float(app["NumBytes"])
    if isinstance(tcp, dict) and "ElapsedTime" in tcp:
        octets = max(float(tcp.get("BytesAcked") or 0), float(tcp.get("BytesReceived") or 0))
        return float(tcp["ElapsedTime"]) / 1e6, octets
    return None


def _told(found: Sequence[Measurement]) -> Iterator[str]:
    for each in found:
        if each.transfer is not None and each.ask is not None:
            yield f"goodput {each.transfer.goodput_bps / 1e6:.4g} Mbit/s ({each.ask.said()})"
            if each.transfer.rtt_min_s is not None:
                yield "the least round-trip time of its flow"
        elif each.pings is not None:
            yield f"{len(each.pings.rtts_s)} smoothed round-trip times under load"
