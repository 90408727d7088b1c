"""The sabotage of evidence_sabotage.py: each must change the verdict of a trial, or be refused, or be an exception with
its reason. `make test` carries out a spread of the list, `make nightly` all of it.
"""

from __future__ import annotations

import re
from pathlib import Path

import evidence_sabotage
import pytest
from evidence_sabotage import CAUGHT, RECORDED, REFUSED, Recording, Sabotage, record, sabotaged, sabotages

from testbed.error import MachineError
from testbed.trial import ready_kernel

EVERY = 25
"""One of so many is in `make test`."""

NAMES = [name for name in RECORDED if name != "flow-real-time"]
"""Whether a trial in real time is valid depends on the computer."""

ZERO = "0 is what a good trial can have there"
UNSEEN = "not caught: nothing else tells the same"

EXCEPTIONS: dict[str, str] = {
    r"\.intervals\.0\.end_ns zero$": "without a schedule, the only state has no end: no file says one",
    r"intervals\.(\d|\*)\.(first|last) removed$": "at the ends of a state a look stands for a sample",
    r"intervals\.(\d|\*)\.first\.(time_ns|drops) zero$": "the first look of a state: it began at no other",
    r"^flow-schedule: answer_stages\.0\.intervals\.0\.samples(\.\*)? (empty|removed)$": f"{UNSEEN}: few of many",
    r"^flow-schedule: \w+_stages\S+\.delay_packets zero$": f"{UNSEEN}: nothing else counts it in each state",
    r"beside\.\d+\.losses": f"{UNSEEN}: a loss that nothing passed",
    r"_stages\.\S+\.around\.0\.time_ns zero$": "a look's bytes are used, its time is not",
    r"channels\.0\.around\.0\.time_ns zero$": "a look's bytes are used, its time is not",
    r"(answer_stages\.\d|channels\.\d)\.intervals\.\d\.counts\.data_packets zero$": f"{ZERO}: answers need not be data",
    r"\.netem(_after)?\.more\.(delay|jitter|limit) ": "netem's own rounding of what delay_ns, jitter_ns and limit say",
    r"\.qdiscs\.1:\.more\.(delay|jitter|limit) ": "netem's own rounding of what delay_ns, jitter_ns and limit say",
    r"intervals\.\d\.qdiscs\.1:\.more\.loss negative$": "-1 is the step next to the 0 that was asked",
    r"intervals\.\d\.qdiscs\.1:\.more\.rate removed$": "the kernel need not tell a rate of 0",
    r"_tc_ends\.\d\.netem(_after)?\.(device zero|parent (empty|text))$": "the numbers of a TCLink come by its port",
    r"answer_tc_ends\.\d\.samples(\.[#*\d]+)? (removed|empty)$": "only the data's end of a TCLink is sampled",
    r"device_drops\.\S+ lo removed$": "nothing passes an emulator's loopback device",
    r"network\.facts\.\('\S+', 'lo is'\) ": "nothing passes an emulator's loopback device",
    r"reference removed$": "it comes from the plan, not from a file",
    r"^iperf3-udp: outcome\.measured(\.udp removed| empty)$": "its reader makes it, or refuses the file",
    r"^iperf3-udp: outcome\.flows\.\d\.congestion text$": f"{UNSEEN}: iperf3 can tell one, of TCP",
    r"^iperf3-udp: tcp(\.\*)? (removed|empty)$": "the only sockets of TCP are those of iperf3's own control connection",
    r"^iperf3\S*: outcome\.flows\.\d\.\w+ removed$": "an older iperf3 does not tell it: it is shown as absent",
    r"(_stages|channels|beside|detours)\.\S+\.waiting_packets zero$": f"{ZERO}: it explains less",
    r"host_counters\.rose\.TCPLostRetransmit zero$": f"{ZERO}: it explains less",
    r"outcome\.flows\.\d\.snd_wnd_bytes zero$": f"{ZERO}: a window can be closed at the end",
    r"outcome\.measured\.udp\.(jitter_s|jitter_mean_s|send_late_max_s) zero$": f"{ZERO}: in virtual time",
    r"outcome\.measured\.background\.\w+\.finished_flows zero$": f"{ZERO}: the workload's end cuts flows off",
    r"tcp\.(\d+|\*)\.info\.(ca_state|delivery_rate_bps|lost|notsent_bytes|rcv_wnd_bytes|rttvar_s) zero$": ZERO,
    r"tcp\.(\d+|\*)\.info\.(sacked|snd_ssthresh|snd_wnd_bytes|unacked|rwnd_limited_s) zero$": ZERO,
    r"openflow\.switches\.\w+\.(flows_\w+|missed_packets) zero$": ZERO,
    r"openflow\.controllers\.\d\.(packet_ins\.\w+ zero|events)": f"{UNSEEN}: only the controller tells of itself",
    r"openflow\.controllers\.\d\.answers": f"{UNSEEN}: only the monitor tells of its answers",
    r"^ping: \S+\.samples(\.\*|\.\d+)? (removed|empty)$": f"{UNSEEN}: ping does not tell how long it took",
    r"things\.taint\.said text$": "a note, which is of the kernel and not of what was measured",
    r"ping\.rtts_s(\.\*)? (removed|empty)$": "older results have no single RTTs; without them there are no quantiles",
    r"_stages\.\S+\.(delay_)?samples\.(\*|\d+)\.drops zero$": (
        f"{UNSEEN} at that time; what the looks around it count is right"
    ),
    r"policed\.samples\.\d+ removed$": f"{UNSEEN}: one look at a policy of many",
    r"policed\.samples\.\*\.\d\.netns (empty|text)$": f"{UNSEEN}: counters are told by their names",
    r"^iperf3: outcome\.flows\.\d\.retransmits zero$": f"{UNSEEN}: iperf3 tells no ports, which sockets are known by",
    r"(samples|around|queue_around|bursts)\.(\*|\d+)\.options removed$": "`settings` has what they say",
    r"intervals\.(\d|\*)\.(first|last)\.options removed$": "`settings` has what they say",
    r"outcome\.answered\.largest_bytes zero$": f"{ZERO}: no answer has data",
    r"background_begun\.\w+\.late_ns zero$": f"{ZERO}: all its flows began in time",
    r"tcp\.\*\.agreed removed$": "an older kernel does not tell it of any socket",
    r"tcp\.\*\.ecn\.received_ce removed$": "an older kernel does not tell it of any socket",
    r"beside\.\S+\.qdiscs(_after)?\.\d:\.(more\.\w+ removed|more\.(delay|jitter|limit) )": "nobody asked for it",
    r"beside\.\S+\.qdiscs(_after)?\.\d:\.(netns|device|handle|kind|parent|more empty)": f"{UNSEEN}: where it was read",
    r"beside\.\S+\.qdiscs(_after)?\.\d:\.(limit|jitter_ns) removed$": "netem's own numbers say the same",
    r"beside\.\d+\.(around|intervals\.0\.samples)": f"{UNSEEN}: a look at a queue that nothing passed",
    r"tcp\.(\d+|\*)\.congestion text$": f"{UNSEEN}: a name of all sockets at once, or of a socket that is no flow's",
    r"^(flow|background|capture|mininet)\S*: tcp\.\*\.info\.bytes_(acked|received) zero$": f"{UNSEEN}: not of data",
    r"^mininet: mininet text$": "a version is what Mininet says it is",
    r"^udp-jitter: outcome\.measured\.udp\.delay_min_s zero$": f"{UNSEEN}: with jitter, no delay is the least",
    r"_stages\.\d\.around\.1\.drops zero$": "with a schedule, its states count the drops",
    r"tcp\.\*\.info\.bytes_retrans zero$": f"{UNSEEN}: few segments that were sent again can be SYNs",
    r"^(http|iperf3|arrivals)\S*: tcp\.(\S+ zero|\d+ removed)$": f"{UNSEEN}: nothing tells whose socket it is",
}
"""Patterns of names, and why the gate says nothing. Those that begin with "not caught" are holes."""


def excused(each: Sabotage) -> bool:
    return any(re.search(pattern, each.name) for pattern in EXCEPTIONS)


def carried_out(name: str, parent: Path, every: int) -> list[str]:
    """The names of those that neither change the verdict nor are refused, with what became of them."""
    if ready_kernel.ready_kernel(evidence_sabotage.make_trial(**RECORDED[name]).kernel).image is None:
        raise MachineError("no lab kernel", "testbed kernel build")
    recording: Recording = record(name, parent)
    evidence = recording.evidence()
    before = recording.judged(evidence)
    assert before == "valid"
    found = []
    for number, each in enumerate(sabotages(name, evidence, set())):
        if number % every == 0 and not excused(each):
            became = recording.outcome(sabotaged(evidence, each), before)
            found += [] if became in (CAUGHT, REFUSED) else [f"{each.name}: {became}"]
    return found


@pytest.mark.lab
@pytest.mark.parametrize("name", NAMES)
def test_the_gate_catches_a_spread_of_damaged_evidence(name: str, tmp_path: Path) -> None:
    assert carried_out(name, tmp_path, EVERY) == []


@pytest.mark.lab
@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_the_gate_catches_all_damaged_evidence(name: str, tmp_path: Path) -> None:
    assert carried_out(name, tmp_path, 1) == []


@pytest.mark.parametrize("pattern", EXCEPTIONS)
def test_an_exception_has_its_reason(pattern: str) -> None:
    assert re.compile(pattern)
    assert EXCEPTIONS[pattern]
