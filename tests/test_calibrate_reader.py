"""Readers of measurements: what each format tells, and what is wrong in a file, with its line."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from testbed.calibrate import run as calibration
from testbed.calibrate.measurement import Measurement, Reading, with_load
from testbed.calibrate.reader import registry
from testbed.error import SpecError

DATA = Path(__file__).parent / "data" / "calibrate"

MACOS = """PING example.net (192.0.2.7): 56 data bytes
64 bytes from 192.0.2.7: icmp_seq=0 ttl=59 time=24.187 ms
Request timeout for icmp_seq 1
64 bytes from 192.0.2.7: icmp_seq=2 ttl=59 time=26.968 ms
64 bytes from 192.0.2.7: icmp_seq=3 ttl=59 time=25.258 ms

--- example.net ping statistics ---
4 packets transmitted, 3 packets received, 25.0% packet loss
round-trip min/avg/max/stddev = 24.187/25.471/26.968/1.145 ms
"""
WINDOWS = """\r
Pinging example.net [192.0.2.7] with 32 bytes of data:\r
Reply from 192.0.2.7: bytes=32 time=18ms TTL=113\r
Request timed out.\r
Reply from 192.0.2.7: bytes=32 time<1ms TTL=113\r
Reply from 192.0.2.7: bytes=32 time=19ms TTL=113\r
\r
Ping statistics for 192.0.2.7:\r
    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\r
Approximate round trip times in milli-seconds:\r
    Minimum = 0ms, Maximum = 19ms, Average = 12ms\r
"""
GERMAN = """
Ping wird ausgeführt für example.net [192.0.2.7] mit 32 Bytes Daten:
Antwort von 192.0.2.7: Bytes=32 Zeit=14ms TTL=117
Antwort von 192.0.2.7: Bytes=32 Zeit=15ms TTL=117

Ping-Statistik für 192.0.2.7:
    Pakete: Gesendet = 2, Empfangen = 2, Verloren = 0
    (0% Verlust),
Ca. Zeitangaben in Millisek.:
    Minimum = 14ms, Maximum = 15ms, Mittelwert = 14ms
"""
QUIET = """PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.

--- 192.0.2.7 ping statistics ---
50 packets transmitted, 49 received, 2% packet loss, time 9812ms
rtt min/avg/max/mdev = 20.304/20.411/20.902/0.093 ms
"""
BUSYBOX = """PING 192.0.2.7 (192.0.2.7): 56 data bytes
64 bytes from 192.0.2.7: seq=0 ttl=64 time=5.250 ms
64 bytes from 192.0.2.7: seq=1 ttl=64 time=5.750 ms

--- 192.0.2.7 ping statistics ---
2 packets transmitted, 2 packets received, 0% packet loss
round-trip min/avg/max = 5.250/5.500/5.750 ms
"""


def read(tmp_path: Path, content: str | bytes, name: str = "given") -> Reading:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return registry.read(path)


def only(reading: Reading) -> Measurement:
    assert len(reading.measurements) == 1
    return reading.measurements[0]


def pings(tmp_path: Path, text: str | bytes) -> Any:
    found = only(read(tmp_path, text)).pings
    assert found is not None
    return found


def test_linux_tells_each_ping_and_when_it_came() -> None:
    one = only(registry.read(DATA / "ping-linux.txt"))
    assert one.pings is not None
    assert one.ask is not None
    assert (one.pings.sent, one.pings.received, len(one.pings.rtts_s), len(one.pings.times_s)) == (12, 12, 12, 12)
    assert one.pings.min_s == pytest.approx(min(one.pings.rtts_s), abs=1e-6)
    assert one.pings.rtts_s[0] == pytest.approx(0.270e-3)
    assert one.ask.interval_s == pytest.approx(0.05, abs=0.02)
    assert one.other_end == "127.0.0.1"


def test_macos_tells_what_was_lost(tmp_path: Path) -> None:
    found = pings(tmp_path, MACOS)
    assert (found.sent, found.received) == (4, 3)
    assert found.rtts_s == pytest.approx((0.024187, 0.026968, 0.025258))
    assert (found.min_s, found.sd_s) == pytest.approx((0.024187, 0.001145))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_windows_tells_whole_milliseconds_and_that_some_were_below(tmp_path: Path, encoding: str) -> None:
    reading = read(tmp_path, WINDOWS.encode(encoding))
    found = only(reading).pings
    assert found is not None
    assert (found.sent, found.received, found.rtts_s) == (4, 3, (0.018, 0.001, 0.019))
    assert (found.min_s, found.mean_s, found.max_s, found.summary_step_s) == (0.0, 0.012, 0.019, 1e-3)
    assert "times below 1 ms" in reading.untold


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_windows_in_another_language_is_read(tmp_path: Path, encoding: str) -> None:
    found = pings(tmp_path, GERMAN.encode(encoding))
    assert (found.sent, found.received, found.rtts_s) == (2, 2, (0.014, 0.015))


def test_a_quiet_ping_tells_its_summary_and_that_it_lacks_the_rest(tmp_path: Path) -> None:
    reading = read(tmp_path, QUIET)
    one = only(reading)
    assert one.pings is not None
    assert one.ask is not None
    assert (one.pings.rtts_s, one.pings.min_s, one.pings.sd_s) == ((), 0.020304, 0.000093)
    assert one.pings.received == 49
    assert one.ask.interval_s == pytest.approx(0.2, abs=1e-3)
    assert any("distribution" in each for each in reading.untold)


def test_busybox_has_no_deviation_which_is_not_0(tmp_path: Path) -> None:
    found = pings(tmp_path, BUSYBOX)
    assert (found.rtts_s, found.sd_s) == ((0.00525, 0.00575), None)


def iperf3(**changes: Any) -> dict[str, Any]:
    """A run of two flows of 4 s, of which the first second is omitted."""

    def second(n: int) -> dict[str, Any]:
        span = {"start": n, "end": n + 1, "seconds": 1.0, "omitted": n == 0, "sender": True}
        stream = {"bytes": 1_250_000, "retransmits": n, "snd_cwnd": 100_000, "rtt": 20_000 + n, **span}
        return {"streams": [{**stream, "socket": 5}, {**stream, "socket": 7}], "sum": {**span, "bytes": 2_500_000,
                "retransmits": 2 * n}}  # fmt: skip

    ends = {"bytes": 3_750_000, "retransmits": 6, "min_rtt": 19_900, "max_snd_wnd": 400_000}
    streams = [{"sender": ends, "receiver": {"bytes": 3_700_000, "bits_per_second": 9_866_666.0}}] * 2
    start = {
        "version": "iperf 3.12",
        "connecting_to": {"host": "192.0.2.7", "port": 5201},
        "timestamp": {"timesecs": 1_700_000_000},
        "tcp_mss_default": 1448,
        "sock_bufsize": 0,
        "test_start": {"protocol": "TCP", "num_streams": 2, "blksize": 131072, "omit": 1, "duration": 3, "reverse": 0,
                       "target_bitrate": 0},
    }  # fmt: skip
    end = {
        "streams": streams,
        "sum_sent": {"bytes": 7_500_000, "retransmits": 12},
        "sum_received": {"bytes": 7_400_000, "bits_per_second": 19_733_333.0},
        "sender_tcp_congestion": "cubic",
    }
    return {"start": start, "intervals": [second(n) for n in range(4)], "end": end, **changes}


def test_iperf3_tells_its_flows_its_intervals_and_how_to_repeat_it(tmp_path: Path) -> None:
    one = only(read(tmp_path, json.dumps(iperf3(), indent=1)))
    assert one.ask is not None
    assert one.transfer is not None
    assert one.ask.words() == (
        "iperf3", "--client", "$SERVER", "--json", "--time", "3", "--parallel", "2", "--congestion", "cubic",
        "--omit", "1",
    )  # fmt: skip
    assert len(one.transfer.seconds) == 3  # without the omitted one
    assert one.transfer.seconds[0].rtts_s == (0.020001, 0.020001)
    assert one.transfer.seconds[0].rate_bps == pytest.approx(20e6)
    assert (one.transfer.retransmits, one.transfer.mss_bytes, one.transfer.window_limit_bytes) == (12, 1448, 400_000)
    assert one.transfer.segments == pytest.approx(7_500_000 / 1448)
    assert one.transfer.goodput_bps == pytest.approx(19.733333e6)
    assert not one.transfer.by_receiver


def test_a_reverse_run_is_of_the_other_direction_and_counts_at_the_receiver(tmp_path: Path) -> None:
    run = iperf3()
    run["start"]["test_start"]["reverse"] = 1
    run["end"]["sum_received"]["bytes"] = 7_500_000
    run["end"]["streams"] = [
        {"sender": each["sender"], "receiver": each["sender"] | each["receiver"] | {"bytes": 3_750_000}}
        for each in run["end"]["streams"]
    ]
    one = only(read(tmp_path, json.dumps(run)))
    assert one.transfer is not None
    assert one.ask is not None
    assert (one.way, one.transfer.by_receiver) == ("backward", True)
    assert "--reverse" in one.ask.words()


def test_several_runs_in_one_file_are_repetitions(tmp_path: Path) -> None:
    text = json.dumps(iperf3(), indent=1)
    assert len(read(tmp_path, f"{text}\n{text}\n").measurements) == 2


def test_a_stream_of_events_is_the_same_run(tmp_path: Path) -> None:
    run = iperf3()
    events = [("start", run["start"]), *(("interval", each) for each in run["intervals"]), ("end", run["end"])]
    text = "\n".join(json.dumps({"event": name, "data": data}) for name, data in events)
    whole, streamed = read(tmp_path, json.dumps(run)), read(tmp_path, text)
    assert only(streamed).transfer == only(whole).transfer


SUM = {"bytes": 7_400_000, "bits_per_second": 19_733_333.0, "seconds": 3.0}


def test_intervals_that_are_omitted_may_count_in_the_end(tmp_path: Path) -> None:
    """Some versions of iperf3 do so."""
    end = iperf3()["end"] | {"sum_sent": {"bytes": 10_000_000, "retransmits": 12}}
    end["streams"] = [{**each, "sender": each["sender"] | {"bytes": 5_000_000}} for each in end["streams"]]
    assert only(read(tmp_path, json.dumps(iperf3(end=end)))).transfer is not None


def udp() -> dict[str, Any]:
    run = iperf3()
    run["start"]["test_start"] |= {"protocol": "UDP", "num_streams": 1, "blksize": 1000, "target_bitrate": 8_000_000}
    total = {"seconds": 3.0, "bytes": 3_000_000, "bits_per_second": 8e6, "jitter_ms": 0.25, "lost_packets": 30,
             "packets": 3000}  # fmt: skip
    run["end"] = {"streams": [{"udp": total}], "sum": total}
    for each in run["intervals"]:
        each["sum"]["bytes"] = 1_000_000
    return run


def test_datagrams_tell_what_was_lost_and_what_arrived(tmp_path: Path) -> None:
    one = only(read(tmp_path, json.dumps(udp())))
    assert one.transfer is not None
    assert one.ask is not None
    assert (one.transfer.lost, one.transfer.datagrams, one.transfer.jitter_s) == (30, 3000, 0.00025)
    assert one.transfer.goodput_bps == pytest.approx((3000 - 30) * 1000 * 8 / 3)
    assert one.ask.rate_bps == 8e6


TABLE = """# a comment
time_s,rate_mbps,rtt_ms,loss
0,100,20.5,0
1,50,,0.01
3,100,21,0
"""


def test_a_table_tells_rate_and_round_trip_times(tmp_path: Path) -> None:
    reading = read(tmp_path, TABLE)
    of_pings, of_rate = reading.measurements
    assert of_pings.pings is not None
    assert of_rate.transfer is not None
    assert of_pings.pings.rtts_s == pytest.approx((0.0205, 0.021))  # an empty cell is no round-trip time of 0
    assert of_rate.transfer.goodput_bps == pytest.approx((100e6 * 1 + 50e6 * 2) / 3)
    assert of_rate.ask is None  # nobody can measure it again


UNDER_LOAD = "Time_s,rate_mbps,rtt_ms\n0,0,20\n1,,21\n2,95,80\n3,94,81\n4,0,22\n5,0,20\n"


def test_in_a_table_a_round_trip_time_beside_a_rate_is_one_under_load(tmp_path: Path) -> None:
    idle, loaded, of_rate = read(tmp_path, UNDER_LOAD).measurements
    assert idle.pings is not None
    assert loaded.pings is not None
    assert of_rate.transfer is not None
    assert (idle.is_loaded, idle.pings.rtts_s) == (False, pytest.approx((0.02, 0.021, 0.022, 0.02)))
    assert (loaded.is_loaded, loaded.pings.rtts_s) == (True, pytest.approx((0.08, 0.081)))
    assert [each.rtts_s for each in of_rate.transfer.seconds] == [(0.08,), (0.081,)]
    assert of_rate.transfer.goodput_bps == pytest.approx(94.5e6)  # nothing was sent before and after it
    assert of_rate.transfer.rtt_min_s == pytest.approx(0.08)


def test_a_table_is_of_one_path_with_itself(tmp_path: Path) -> None:
    """As on a radio link, where what is idle waits for its turn."""
    path = tmp_path / "lte.csv"
    path.write_text("time_s,rate_mbps,rtt_ms\n" + "".join(f"{n},0,{60 + n % 3}\n" for n in range(20))
                    + "".join(f"{n},40,{24 + n % 3}\n" for n in range(20, 60)))  # fmt: skip
    assert len(calibration.read(calibration.Wanted((path,)))[0]) == 1


def flent(**changes: Any) -> dict[str, Any]:
    """Two uploads from 5 s to 10 s; pings before, during and after."""
    at = [1_700_000_000 + 0.5 * n for n in range(30)]
    loaded = [5 <= 0.5 * n <= 10 for n in range(30)]
    flows = {f"TCP upload::{n}": [25.0 if on else None for on in loaded] for n in (1, 2)}
    raw: dict[str, Any] = {
        "Ping (ms) ICMP": [
            {"t": t, "val": 80.0 if on else 20.0, "seq": n} for n, (t, on) in enumerate(zip(at, loaded, strict=True))
        ]
    }
    for name in flows:
        raw[name] = [{"t": t, "val": 25.0, "dur": 0.5} for t, on in zip(at, loaded, strict=True) if on]
    total = [50.0 if on else None for on in loaded]
    metadata = {
        "LENGTH": 5,
        "STEP_SIZE": 0.5,
        "NAME": "tcp_nup",
        "SERIES_META": {name: {"CONG_CONTROL": "cubic"} for name in flows},
    }
    results = {**flows, "TCP upload sum": total, "TCP upload avg": total}
    times = [0.5 * n for n in range(30)]
    return {"version": 4, "x_values": times, "results": results, "raw_values": raw, "metadata": metadata, **changes}


def test_flent_tells_pings_without_and_under_load(tmp_path: Path) -> None:
    idle, loaded, transfer = read(tmp_path, gzip.compress(json.dumps(flent()).encode())).measurements
    assert idle.pings is not None
    assert loaded.pings is not None
    assert transfer.transfer is not None
    assert transfer.ask is not None
    assert set(idle.pings.rtts_s) == {0.02}
    assert not idle.is_loaded
    assert set(loaded.pings.rtts_s) == {0.08}
    assert loaded.is_loaded
    assert transfer.transfer.goodput_bps == pytest.approx(50e6)
    assert (transfer.ask.flows, transfer.ask.congestion, transfer.ask.duration_s) == (2, "cubic", 5.0)


def test_flent_takes_no_missing_sample_as_0(tmp_path: Path) -> None:
    data = flent()
    data["results"]["TCP upload::1"] = [v if n % 2 else None for n, v in enumerate(data["results"]["TCP upload::1"])]
    total = data["results"]["TCP upload sum"]
    data["results"]["TCP upload sum"] = [v if v is None or n % 2 else v / 2 for n, v in enumerate(total)]
    transfer = read(tmp_path, json.dumps(data)).measurements[-1].transfer
    assert transfer is not None
    assert transfer.goodput_bps == pytest.approx(50e6)
    assert {round(each.rate_bps) for each in transfer.seconds} == {50_000_000}


def ndt7() -> str:
    rows: list[dict[str, Any]] = [{"Key": "starting", "Value": {"Test": "download"}}]
    for n in range(1, 5):
        app = {"ElapsedTime": n * 250_000, "NumBytes": n * 1_000_000}
        rows.append({"Key": "measurement", "Value": {"Test": "download", "Origin": "client", "AppInfo": app}})
        info = {"ElapsedTime": n * 250_000, "MinRTT": 30_000, "RTT": 40_000 + n, "SndMSS": 1448, "BytesRetrans": 14_480,
                "BytesSent": n * 1_010_000}  # fmt: skip
        rows.append({"Key": "measurement", "Value": {"Test": "download", "Origin": "server", "TCPInfo": info}})
    return "\n".join(map(json.dumps, rows))


def test_ndt7_tells_a_flow_of_bbr_and_its_round_trip_times(tmp_path: Path) -> None:
    transfer, rtts = read(tmp_path, ndt7()).measurements
    assert transfer.transfer is not None
    assert transfer.ask is not None
    assert rtts.pings is not None
    assert transfer.transfer.goodput_bps == pytest.approx(32e6)
    assert (transfer.transfer.retransmits, transfer.transfer.rtt_min_s) == (10, 0.03)
    assert (transfer.ask.congestion, transfer.ask.reverse) == ("bbr", True)
    assert rtts.is_loaded


CLIENT, SERVER = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2))


def segment(at_s: float, ahead: bool, number: int, acked: int, flags: int, octets: int) -> bytes:
    """A record of a capture at the client, in microseconds."""
    source, target = (CLIENT, SERVER) if ahead else (SERVER, CLIENT)
    ports = (40_000, 5201) if ahead else (5201, 40_000)
    tcp = struct.pack("!HHIIBBHHH", *ports, number, acked, 5 << 4, flags, 1000, 0, 0)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + octets, 0, 0, 64, 6, 0, source, target)
    frame = bytes(12) + b"\x08\x00" + ip + tcp
    stamp = round(at_s * 1e6)
    return struct.pack("<IIII", stamp // 10**6, stamp % 10**6, len(frame), len(frame) + octets) + frame


def capture(segments: list[bytes]) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1) + b"".join(segments)


def transfer_capture() -> bytes:
    """A handshake of 20 ms, then 1000 bytes every 10 ms for 5 s, each acknowledged after 30 ms; every 100th is sent
    again.
    """
    packets = [(0.0, segment(0.0, True, 0, 0, 2, 0)), (0.02, segment(0.02, False, 0, 1, 18, 0))]
    packets.append((0.02, segment(0.02, True, 1, 1, 16, 0)))
    for n in range(500):
        at = 1 + 0.01 * n
        packets.append((at, segment(at, True, 1 + 1000 * n, 1, 16, 1000)))
        if n % 100 == 99:
            packets.append((at + 0.002, segment(at + 0.002, True, 1 + 1000 * n, 1, 16, 1000)))
        packets.append((at + 0.03, segment(at + 0.03, False, 1, 1 + 1000 * (n + 1), 16, 0)))
    return capture([each for _, each in sorted(packets, key=lambda pair: pair[0])])


def test_a_capture_tells_handshakes_round_trips_and_what_was_sent_again(tmp_path: Path) -> None:
    shakes, transfer, rtts = read(tmp_path, transfer_capture()).measurements
    assert shakes.pings is not None
    assert transfer.transfer is not None
    assert rtts.pings is not None
    assert shakes.pings.rtts_s == pytest.approx((0.02,), abs=1e-6)
    assert transfer.transfer.retransmits == 5
    assert transfer.transfer.goodput_bps == pytest.approx(800e3, rel=0.01)
    assert len(rtts.pings.rtts_s) == 495  # Karn's rule: none of a segment that was sent twice
    assert set(map(lambda each: round(each, 4), rtts.pings.rtts_s)) == {0.03}
    assert rtts.is_loaded
    assert transfer.way == "forward"


def test_a_trace_is_what_the_link_plays(tmp_path: Path) -> None:
    reading = read(tmp_path, "\n".join(str(n) for n in range(1, 1001)))
    assert reading.trace is not None
    assert reading.told[0] == "the rate of a link over time, mean 12.11 Mbit/s"  # 1514 bytes each ms
    assert reading.measurements == ()


def test_pings_that_ran_during_a_transfer_are_under_load(tmp_path: Path) -> None:
    run = read(tmp_path, json.dumps(iperf3()))
    lines = "".join(
        f"[{1_700_000_000.5 + n}] 64 bytes from 192.0.2.7: icmp_seq={n} ttl=64 time=40.1 ms\n" for n in range(3)
    )
    beside, before = read(tmp_path, lines), read(tmp_path, lines.replace("1700000", "1600000"))
    marked = with_load([run, beside, before])
    assert [each.measurements[0].is_loaded for each in marked] == [False, True, False]


def test_pings_that_a_transfer_met_for_a_while_are_two_measurements(tmp_path: Path) -> None:
    """Of 40 s the transfer takes 4: its RTTs must not be those of the path without load."""
    run = read(tmp_path, json.dumps(iperf3()))
    lines = "".join(
        f"[{1_699_999_980 + n}.5] 64 bytes from 192.0.2.7: icmp_seq={n} time={20.1 + 70 * (20 <= n < 24):.1f} ms\n"
        for n in range(40)
    )
    idle, loaded = with_load([run, read(tmp_path, lines)])[1].measurements
    assert idle.pings is not None
    assert loaded.pings is not None
    assert (idle.is_loaded, loaded.is_loaded) == (False, True)
    assert set(idle.pings.rtts_s) == {0.0201}
    assert set(loaded.pings.rtts_s) == {0.0901}
    assert (idle.pings.mean_s, idle.pings.max_s) == pytest.approx((0.0201, 0.0201))


def test_a_cut_ping_does_not_say_that_none_was_lost(tmp_path: Path) -> None:
    reading = read(tmp_path, "".join(QUIET.splitlines(keepends=True)[:1]) + BUSYBOX.splitlines()[1] + "\n")
    assert not any("lost" in each for each in reading.told)
    assert any("how many were lost" in each for each in reading.untold)


def test_the_other_end_is_an_address_in_each_tool(tmp_path: Path) -> None:
    """A word such as "wird" and a host's name are none, and would make two files two paths."""
    assert only(read(tmp_path, GERMAN)).other_end == "192.0.2.7"
    assert only(read(tmp_path, WINDOWS)).other_end == "192.0.2.7"
    run = iperf3()
    run["start"]["connecting_to"]["host"] = "example.net"
    run["start"]["connected"] = [{"socket": 5, "remote_host": "192.0.2.7", "remote_port": 5201}]
    assert only(read(tmp_path, json.dumps(run))).other_end == "192.0.2.7"


CUT = json.dumps(iperf3(), indent=1)[:2000]
BAD: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "nothing of the kind": ("\n\nhello\n", (":3: this is no measurement", "iperf3 --json")),
    "empty": ("", (": the file is empty",)),
    "JSON of something else": ('{"a": 1}', (":1: this JSON is of no known tool",)),
    "JSON cut short": (CUT, (f":{CUT.count(chr(10)) + 1}: ", "JSON")),
    "iperf3 that failed": (
        json.dumps({"start": {"version": "iperf 3.12"}, "intervals": [], "end": {}, "error": "no route"}, indent=1),
        (":7: iperf3 failed: no route",),
    ),
    "iperf3 that was interrupted": (json.dumps(iperf3(end={}), indent=1), (":1: this run lacks", "interrupted")),
    "iperf3 in both directions": (
        json.dumps(
            iperf3() | {"start": iperf3()["start"] | {"test_start": iperf3()["start"]["test_start"] | {"bidir": 1}}}
        ),
        (":1: ", "bidir"),
    ),
    "ping without replies": (
        "PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.\n\n--- 192.0.2.7 ping statistics ---\n"
        "5 packets transmitted, 0 received, 100% packet loss, time 4100ms\n",
        (":4: none of 5 pings got a reply",),
    ),
    "ping whose clock went back": (
        "PING 192.0.2.7 (192.0.2.7) 56(84) bytes of data.\n"
        "[20.5] 64 bytes from 192.0.2.7: icmp_seq=1 ttl=64 time=1.1 ms\n"
        "[19.5] 64 bytes from 192.0.2.7: icmp_seq=2 ttl=64 time=1.1 ms\n",
        (":3: the time 19.5 is before",),
    ),
    "ping that says so itself": (
        QUIET.replace("\n\n", "\nWarning: time of day goes back (-123us), taking countermeasures\n\n", 1),
        (":2: the clock went backward",),
    ),
    "a table whose time falls": (TABLE.replace("3,100", "0.5,100"), (":5: the time 0.5 is not after the 1",)),
    "a table with a word": (TABLE.replace("50,,", "fast,,"), (":4: rate_mbps is 'fast'",)),
    "a table with a loss above 1": (TABLE.replace("0.01", "1.01"), (":4: loss is '1.01'", "0 to 1")),
    "a table with a column too many": (TABLE.replace("1,50,,0.01", "1,50,,0.01,7"), (":4: this row has 5 values",)),
    "a table with another column": (TABLE.replace("rtt_ms", "rtt"), (":2: ", "is no header")),
    "a table of one row": ("time_s,rtt_ms\n0,5\n", ("there are 1 rows",)),
    "flent whose time falls": (json.dumps(flent(x_values=[1, 0, 2])), ("go backward",)),
    "flent of other things": (json.dumps(flent(results={}, raw_values={})), ("neither ICMP pings nor TCP flows",)),
    "flent cut short": (gzip.compress(json.dumps(flent()).encode())[:-40], ("gzip file is cut short",)),
    "ndt7 that failed": ('{"Key":"error","Value":{"Failure":"no server","Test":"download"}}', (":1: the test failed",)),
    "ndt7 cut short": (ndt7()[:-9], (":9: this line is no JSON",)),
    "two pings": (QUIET + QUIET.replace("192.0.2.7", "192.0.2.8"), (":6: this is of a second ping", "one ping")),
    "more replies than pings": (QUIET.replace("49 received", "90 received"), ("90 of 50 pings got a reply",)),
    "replies that are not those of the summary": (MACOS.replace("time=26.968", "time=86.968"), ("its summary says",)),
    "a summary in no order": (QUIET.replace("20.304/", "90.304/"), ("the least, mean and largest",)),
    "a round-trip time that overflows": (QUIET.replace("20.902", "2" * 400), ("a round-trip time in s is inf",)),
    "a congestion control that is a command": (
        json.dumps(iperf3(end=iperf3()["end"] | {"sender_tcp_congestion": "cubic; touch /tmp/x"})),
        ("'cubic; touch /tmp/x', which is no name of one",),
    ),
    "a negative count": (
        json.dumps(iperf3(end=iperf3()["end"] | {"sum_sent": {"bytes": 7.5e6, "retransmits": -5}})),
        ("its intervals sent 12 segments again, and its end -5",),
    ),
    "NaN": (json.dumps(iperf3()).replace('"rtt": 20001', '"rtt": NaN'), ("a round-trip time in s is nan",)),
    "intervals twice": (json.dumps(iperf3(intervals=iperf3()["intervals"] * 2)), ("at 1 s follows that at 3 s",)),
    "an end of more bytes": (
        json.dumps(iperf3(end=iperf3()["end"] | {"sum_sent": {"bytes": 9e6, "retransmits": 12}})),
        ("contradicts itself: its intervals have 7500000 bytes, and its end 9000000",),
    ),
    "an end of more segments sent again": (
        json.dumps(iperf3(end=iperf3()["end"] | {"sum_sent": {"bytes": 7.5e6, "retransmits": 900}})),
        ("its intervals sent 12 segments again, and its end 900",),
    ),
    "an end of another rate": (
        json.dumps(iperf3(end=iperf3()["end"] | {"sum_received": SUM | {"bits_per_second": 4e7}})),
        ("sum_received has 7400000 bytes in 3 s, and 40000000 bit/s",),
    ),
    "an end of fewer bytes than its flows": (
        json.dumps(iperf3(end=iperf3()["end"] | {"sum_received": SUM | {"bytes": 3.7e6, "bits_per_second": 9.866e6}})),
        ("its streams have 7400000 bytes, and sum_received 3700000",),
    ),
    "intervals missing": (json.dumps(iperf3(intervals=iperf3()["intervals"][:2])), ("its intervals are 1 of 3 s",)),
    "flows without end": (json.dumps(iperf3()).replace('"num_streams": 2', '"num_streams": 0'), ("number of flows",)),
    "flent with NaN": (json.dumps(flent()).replace("25.0", "NaN"), ("the goodput in bit/s is nan",)),
    "a table with semicolons": (TABLE.replace(",", ";"), (":2: ", "is no header")),
    "a warning before the JSON": ("warning: x\n" + json.dumps(iperf3()), (":1: this is no JSON", "iperf3 --json")),
    "a table that overflows": ("time_s,rate_mbps\n0,1e308\n1,1\n", (":2: rate_mbps is '1e308'",)),
    "pcapng": (b"\x0a\x0d\x0d\x0a" + bytes(40), ("editcap -F pcap",)),
    "a capture cut short": (transfer_capture()[:-5], ("cut short in packet",)),
    "a capture whose clock falls": (
        capture([segment(9.0, True, 0, 0, 2, 0), segment(1.0, False, 0, 1, 18, 0)]),
        ("goes backward at packet 2",),
    ),
    "a trace that falls": ("\n".join(map(str, [*range(20), 3])), (":21: the time 3 is before",)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    content, said = BAD[name]
    with pytest.raises(SpecError) as caught:
        read(tmp_path, content, "bad.file")
    assert str(caught.value).startswith(str(tmp_path / "bad.file"))
    assert "allowed: " in str(caught.value)
    for words in said:
        assert words in str(caught.value)


@pytest.mark.parametrize("make", [lambda: json.dumps(iperf3(), indent=1), lambda: json.dumps(udp(), indent=1), ndt7])
def test_no_cut_of_a_file_is_an_accident_of_ours(tmp_path: Path, make: Callable[[], str]) -> None:
    text = make()
    for cut in range(1, len(text) - 1, 37):
        try:
            found = read(tmp_path, text[:cut])
        except SpecError:
            continue
        assert text.startswith('{"Key"'), cut  # whole lines of ndt7 are whole events
        assert found.measurements
