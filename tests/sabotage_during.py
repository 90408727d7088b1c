"""Edits of a network while a workload runs, most of them put back before the second look: real trials whose steps are
tampered with. `EDITS` is the list of an attack, `drawn()` draws more by a seed; `python tests/sabotage_during.py`
carries all of them out and says what the gate finds.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trials import Steps, make_trial, tampered

from testbed.trial import run as runner
from testbed.trial.orders.sequence import orders
from testbed.trial.result import TrialResult

EMULATOR = "tb-path.emulator"
Step = dict[str, Any]
Tamper = Callable[[Steps], Steps]

QUEUED = {"nodes": {"a": {"type": "host", "ecn": "on"}, "b": {"type": "host", "ecn": "on"}}}


def _marking(queue: Mapping[str, Any] | str) -> dict[str, Any]:
    path = {"ends": ["a", "b"], "rate": "50 Mbit/s", "rtt": "10 ms", "buffer": "300 packets", "queue": queue}
    return {"topology": {"name": "net", **QUEUED, "links": {"path": path}}}


LENGTH = {"duration": "1500 ms"}
PLANS: dict[str, dict[str, Any]] = {
    "plain": {"workload": LENGTH},
    "deep": {"path": {"buffer": "4 bdp"}, "workload": {**LENGTH, "flows": 2}},
    "random": {"path": {"loss": {"random": "0.5 %"}}, "workload": {**LENGTH, "congestion": "bbr"}},
    "codel": {"path": {"queue": {"forward": "codel"}, "buffer": "1000 packets"}, "workload": LENGTH},
    "fq_codel": {"path": {"queue": {"forward": "fq_codel"}, "buffer": "1000 packets"}, "workload": LENGTH},
    "pie": {"path": {"queue": {"forward": "pie"}, "buffer": "1000 packets"}, "workload": LENGTH},
    "red": {"path": {"queue": {"forward": "red"}, "buffer": "300 packets"}, "workload": LENGTH},
    "ecn": {**_marking({"forward": {"type": "codel", "ecn": True}}), "workload": LENGTH},
    "ecn-fifo": {**_marking({"forward": "fq_codel"}), "workload": LENGTH},
    "constant": {
        "background": {"noise": {"pattern": "constant", "from": "a", "to": "b", "rate": "10 Mbit/s"}},
        "workload": LENGTH,
    },
    "on-off": {
        "background": {"bulk": {"pattern": "on-off", "from": "a", "to": "b", "busy": "10 s", "idle": "1 ms"}},
        "workload": LENGTH,
    },
    "web": {
        "background": {
            "web": {
                **{"pattern": "heavy-tailed", "from": "a", "to": "b", "arrivals": "20 /s"},
                "size": {"mean": "100 kB", "shape": "1.5"},
            }
        },
        "workload": LENGTH,
    },
    "shaper": {
        "path": {"rate": None, "shaper": {"rate": "80 Mbit/s", "burst": "40 Mbit", "refill": "20 Mbit/s"}},
        "workload": LENGTH,
    },
    "trace": {
        "path": {
            **{"rate": None, "buffer": "100 packets"},
            "trace": {"file": "lines.trace", "opportunities": "ms " + "1x3 2x4 " * 33 + "2"},
        },
        "workload": LENGTH,
    },
    "schedule": {
        "path": {"schedule": [{"at": "500 ms", "rate": "50 Mbit/s"}, {"at": "1 s", "rate": "80 Mbit/s"}]},
        "workload": LENGTH,
    },
    "udp": {"workload": {"tool": "udp", "rate": "40 Mbit/s", "duration": "1500 ms"}},
}


@dataclass(frozen=True)
class Edit:
    """`what` is done to the trials of a plan."""

    plan: str
    what: str
    tamper: Tamper

    @property
    def name(self) -> str:
        return f"{self.plan}: {self.what}"


def done(edit: Edit, folder: Path) -> TrialResult:
    """Carries the edit out in a real trial. Raises TrialError if that does not come to its end."""
    return runner.run(trial := make_trial(**PLANS[edit.plan]), tampered(orders(trial), edit.tamper), folder)


def _observing(steps: Steps) -> int:
    return next(n for n, step in enumerate(steps) if step.get("background") == "observer") + 1


def shell(*parts: str, netns: str | None = EMULATOR) -> Tamper:
    """Somebody's commands beside the workload, from the moment on at which everything has been read back."""
    step = {"run": ["sh", "-c", "; ".join((*parts, "sleep 60"))], "netns": netns, "background": "somebody"}
    return lambda steps: (*steps[: _observing(steps)], step, *steps[_observing(steps) :])


def before(command: str, *later: str, netns: str | None = None) -> Tamper:
    """A command that is done before the workload begins, and others beside it."""
    step = {"run": ["sh", "-c", command], "netns": netns}

    def tamper(steps: Steps) -> Steps:
        both = shell(*later, netns=netns)(steps) if later else steps
        return (*both[: _observing(both)], step, *both[_observing(both) :])

    return tamper


def instead(title: str, old: str, new: str) -> Tamper:
    """The steps of this title with other words."""

    def tamper(steps: Steps) -> Steps:
        made = [json.loads(json.dumps(s).replace(old, new)) if s.get("title") == title else s for s in steps]
        assert made != list(steps), f"no {old} in {title}"
        return tuple(made)

    return tamper


FROM, FOR = 0.4, 0.5
"""When edits begin, after the observer, and how long most of them last, in seconds."""


def held(other: str, back: str, netns: str | None = EMULATOR, at: float = FROM, span: float = FOR) -> Tamper:
    """One command after another."""
    return shell(f"sleep {at}", other, f"sleep {span}", back, netns=netns)


def qdisc(device: str, handle: str, other: str, back: str, parent: str = "root", **times: float) -> Tamper:
    """Other words of a queue for a while; tc knows all kinds here, or our own program does."""
    lines = (
        f"echo qdisc change dev {device} {parent} handle {handle} {words} | tc -batch -" for words in (other, back)
    )
    return held(*lines, **times)


def own_qdisc(device: str, handle: str, other: str, back: str, **times: float) -> Tamper:
    lines = (f"echo qdisc change dev {device} root handle {handle} {w} | /run/tools/qdisc" for w in (other, back))
    return held(*lines, **times)


def written(path: str, value: object, back: object, netns: str | None = None, at: float = 0.3) -> Tamper:
    """A file of the kernel has another value when the workload begins, and its own again after a while."""
    return before(f"echo {value} > {path}", f"sleep {at}", f"echo {back} > {path}", netns=netns)


def tbf(rate: int = 100_000_000, limit: int = 125_000, burst: int = 2271) -> str:
    return f"tbf rate {rate}bit burst {burst} limit {limit}"


def netem(us: float = 5000, more: str = "") -> str:
    return f"netem limit 2147483647 delay {us:g}us {more}".strip()


def flow(source: str, target: str, address: str, port: int, words: str) -> str:
    return f"/run/tools/flow --from tb-{source} --to tb-{target} --address {address} --port {port} {words} > /dev/null"


def udp(source: str, target: str, address: str, port: int, rate: int, ms: int) -> str:
    return (
        f"/run/tools/udp --from tb-{source} --to tb-{target} --address {address} --port {port} --length 1400 "
        f"--rate {rate} --duration {ms}000000 --linger 10000000 --flows 1 --burst 1 > /dev/null"
    )


A, B = "10.0.0.1", "10.0.0.2"
SYSCTL, MODULE = "/proc/sys/net/ipv4", "/sys/module/tcp_cubic/parameters"
MARK = "nft insert rule netdev testbed from-end0 ip ecn != not-ect numgen random mod 100 0 ip ecn set ce"
MARK_BACK = (
    "nft delete rule netdev testbed from-end0 handle $(nft -a list chain netdev testbed from-end0 | "
    "grep 'set ce' | sed 's/.*handle //')"
)
LOST = "nft insert rule netdev testbed from-wire1 meta l4proto tcp numgen random mod 100 0 drop"
LOST_BACK = (
    "nft delete rule netdev testbed from-wire1 handle $(nft -a list chain netdev testbed from-wire1 | "
    "grep 'mod 100' | sed 's/.*handle //')"
)
LATER = '["sh", "-c", "sleep 1; exec \\"$@\\"", "sh", '


def later(title: str) -> Tamper:
    """The program of a step begins a second late."""
    return instead(title, '"run": [', f'"run": {LATER}')


def reversed_ends(title: str) -> Tamper:
    """The data of a program goes from b to a."""
    swap = (('"--from", "tb-a"', '"--from", "tb-x"'), ('"--to", "tb-b"', '"--to", "tb-a"'),
            ('"tb-x"', '"tb-b"'), (f'"--address", "{B}"', f'"--address", "{A}"'))  # fmt: skip

    def tamper(steps: Steps) -> Steps:
        for old, new in swap:
            steps = instead(title, old, new)(steps)
        return steps

    return tamper


CAUGHT = (
    Edit(
        "plain", "rate 90 %, left", shell(f"sleep {FROM}", f"tc qdisc change dev end1 root handle 2: {tbf(90_000_000)}")
    ),
    Edit("plain", "rate 110 %", qdisc("end1", "2:", tbf(110_000_000, burst=2500), tbf())),
    Edit(
        "plain",
        "delay 8 ms more, left",
        shell(f"sleep {FROM}", f"tc qdisc change dev wire0 root handle 1: {netem(13000)}"),
    ),
    Edit(
        "plain",
        "a tenth of the buffer, left",
        shell(f"sleep {FROM}", f"tc qdisc change dev end1 root handle 2: {tbf(limit=12_500)}"),
    ),
    Edit("plain", "random loss of 0.5 %", qdisc("wire0", "1:", netem(more="loss 0.5%"), netem(more="loss 0%"))),
    Edit("plain", "copies of 1 %", qdisc("wire0", "1:", netem(more="duplicate 1%"), netem(more="duplicate 0%"))),
    Edit("plain", "damage of 1 %", qdisc("wire0", "1:", netem(more="corrupt 1%"), netem(more="corrupt 0%"))),
    Edit(
        "plain",
        "another order of 2 %",
        qdisc("wire0", "1:", netem(more="reorder 98% gap 1"), netem(more="reorder 0% gap 0")),
    ),
    Edit("plain", "a rule that drops data", held(LOST, LOST_BACK)),
    Edit("plain", "the link down for 0.1 s", held("ip link set end1 down", "ip link set end1 up", span=0.1)),
    Edit("plain", "reno in place of cubic", instead("flow", "cubic:0", "reno:0")),
    Edit("plain", "a window of 100 kB", instead("flow", "cubic:0:", "cubic:100000:")),
    Edit("plain", "MTU 1000, left", before("ip link set eth0 mtu 1000", netns="tb-a")),
    Edit("plain", "SACK off, left", before(f"echo 0 > {SYSCTL}/tcp_sack", netns="tb-a")),
    Edit("ecn", "ECN off at connect", before(f"echo 0 > {SYSCTL}/tcp_ecn", netns="tb-a")),
    Edit("plain", "twice the data", instead("flow", "1500000000", "3000000000")),
)
"""What the gate found when the list was made."""

VALID = (
    Edit("plain", "a second flow", shell(f"sleep {FROM}", flow("a", "b", B, 9009, "cubic:0:0:800000000"), netns=None)),
    Edit(
        "plain",
        "a second flow backward",
        shell(f"sleep {FROM}", flow("b", "a", A, 9009, "cubic:0:0:800000000"), netns=None),
    ),
    Edit("plain", "datagrams", shell(f"sleep {FROM}", udp("a", "b", B, 9009, 30_000_000, 600), netns=None)),
    Edit("udp", "datagrams", shell(f"sleep {FROM}", udp("a", "b", B, 9009, 30_000_000, 600), netns=None)),
    Edit("on-off", "background with reno", instead("background", '"--congestion", "cubic"', '"--congestion", "reno"')),
    Edit("on-off", "background backward", reversed_ends("background")),
    Edit("on-off", "background a second late", later("background")),
    Edit("constant", "background backward", reversed_ends("background")),
    Edit("constant", "background a second late", later("background")),
    Edit("plain", "rate 90 %", qdisc("end1", "2:", tbf(90_000_000), tbf())),
    Edit("plain", "rate 90 % between two samples", qdisc("end1", "2:", tbf(90_000_000), tbf(), at=0.53, span=0.06)),
    Edit(
        "schedule",
        "rate 90 % of the second state",
        qdisc("end1", "2:", tbf(45_000_000), tbf(50_000_000), at=0.6, span=0.3),
    ),
    Edit("plain", "round trip of 30 ms", qdisc("wire0", "1:", netem(25000), netem())),
    Edit("plain", "round trip of 8 ms", qdisc("wire0", "1:", netem(3000), netem())),
    Edit("plain", "answers 8 ms later", qdisc("wire1", "1:", netem(13000), netem())),
    Edit("plain", "a tenth of the buffer", qdisc("end1", "2:", tbf(limit=12_500), tbf())),
    Edit("deep", "a quarter of the buffer", qdisc("end1", "2:", tbf(limit=125_000), tbf(limit=500_000))),
    Edit("codel", "target x10", qdisc("end1", "3:", "codel target 50ms", "codel target 5ms", parent="parent 2:1")),
    Edit(
        "codel",
        "interval x10",
        qdisc("end1", "3:", "codel interval 1000ms", "codel interval 100ms", parent="parent 2:1"),
    ),
    Edit("pie", "target x4", qdisc("end1", "3:", "pie target 60ms", "pie target 15ms", parent="parent 2:1")),
    Edit(
        "random",
        "the same loss in bursts",
        qdisc("end1", "1:", netem(more="loss gemodel 0.05% 10% 100% 0%"), netem(more="loss random 0.5%")),
    ),
    Edit(
        "random",
        "half of the loss",
        qdisc("end1", "1:", netem(more="loss random 0.25%"), netem(more="loss random 0.5%")),
    ),
    Edit("ecn", "marks by a rule", held(MARK, MARK_BACK)),
    Edit(
        "plain",
        "MTU 1000 at connect",
        before("ip link set eth0 mtu 1000", "sleep 0.3", "ip link set eth0 mtu 1500", netns="tb-a"),
    ),
    Edit("plain", "SACK off at connect", written(f"{SYSCTL}/tcp_sack", 0, 1, "tb-a")),
    Edit("plain", "no time stamps at connect", written(f"{SYSCTL}/tcp_timestamps", 0, 1, "tb-a")),
    Edit("plain", "no scaled windows at connect", written(f"{SYSCTL}/tcp_window_scaling", 0, 1, "tb-a")),
    Edit("plain", "beta of cubic", before(f"echo 512 > {MODULE}/beta")),
    Edit("plain", "no hystart", before(f"echo 0 > {MODULE}/hystart")),
    Edit(
        "shaper",
        "credit burnt before the start",
        before("; ".join((udp("a", "b", B, 9009, 75_000_000, 400), "sleep 0.05"))),
    ),
)
"""What it passed."""

EDITS = (*CAUGHT, *VALID)

SEED, DRAWN = 20261124, 20


def drawn(seed: int = SEED, count: int = DRAWN) -> Iterator[Edit]:
    """Edits by chance: which plan, which of its parameters, how much, from when and for how long. Each is put back."""
    draw = random.Random(seed)
    for _ in range(count):
        kind = draw.choice(sorted(_DRAWN))
        at, span = round(draw.uniform(0.25, 0.8), 3), round(draw.uniform(0.15, 0.6), 3)
        yield _DRAWN[kind](draw, {"at": at, "span": span})


def _drawn_rate(draw: random.Random, times: Any) -> Edit:
    share = draw.choice((0.5, 0.8, 0.9, 0.95, 0.97))
    plan = draw.choice(("plain", "deep", "on-off", "web"))
    limit = 500_000 if plan == "deep" else 125_000
    other, back = tbf(int(100_000_000 * share), limit), tbf(limit=limit)
    return Edit(plan, f"rate {share:.0%} {_when(times)}", qdisc("end1", "2:", other, back, **times))


def _drawn_delay(draw: random.Random, times: Any) -> Edit:
    us, device = draw.choice((2500, 4000, 4500, 6000, 10000, 20000)), draw.choice(("wire0", "wire1"))
    plan = draw.choice(("plain", "deep", "web", "udp"))
    return Edit(plan, f"delay {us} us of {device} {_when(times)}", qdisc(device, "1:", netem(us), netem(), **times))


def _drawn_buffer(draw: random.Random, times: Any) -> Edit:
    share = draw.choice((0.1, 0.3, 0.5, 2.0, 4.0))
    other = tbf(limit=int(125_000 * share))
    return Edit("plain", f"buffer {share:g} {_when(times)}", qdisc("end1", "2:", other, tbf(), **times))


def _drawn_aqm(draw: random.Random, times: Any) -> Edit:
    kind, words, own = draw.choice((
        ("codel", "target", "5ms"), ("codel", "interval", "100ms"), ("fq_codel", "target", "5ms"),
        ("fq_codel", "limit", "1000"), ("pie", "target", "15ms"), ("pie", "tupdate", "15ms"), ("pie", "alpha", "2"),
    ))  # fmt: skip
    number, unit = (own[:-2], "ms") if own.endswith("ms") else (own, "")
    factor = draw.choice((3, 5, 8))
    other, back = f"{kind} {words} {int(number) * factor}{unit}", f"{kind} {words} {own}"
    return Edit(
        kind, f"{words} x{factor} {_when(times)}", qdisc("end1", "3:", other, back, parent="parent 2:1", **times)
    )


def _drawn_loss(draw: random.Random, times: Any) -> Edit:
    words = draw.choice(("random 0%", "random 1%", "random 2%", "gemodel 0.1% 20% 100% 0%", "gemodel 0.02% 4% 100% 0%"))
    return Edit("random", f"loss {words} {_when(times)}",
                qdisc("end1", "1:", netem(more=f"loss {words}"), netem(more="loss random 0.5%"), **times))  # fmt: skip


def _drawn_traffic(draw: random.Random, times: Any) -> Edit:
    (source, target, address), ms = draw.choice((("a", "b", B), ("b", "a", A))), int(times["span"] * 1000)
    port, mbps = draw.randrange(1024, 60000), draw.choice((2, 5, 10, 30))
    plan = draw.choice(("plain", "udp", "constant", "shaper", "trace"))
    if draw.random() < 0.5:
        command, what = udp(source, target, address, port, mbps * 10**6, ms), f"datagrams at {mbps} Mbit/s"
    else:
        command = flow(source, target, address, port, f"{draw.choice(('cubic', 'reno', 'bbr'))}:0:0:{ms}000000")
        what = f"a flow of {command.split()[-3].split(':')[0]}"
    tamper = shell(f"sleep {times['at']}", command, netns=None)
    return Edit(plan, f"{what} from {source} to {address}:{port} {_when(times)}", tamper)


def _drawn_option(draw: random.Random, times: Any) -> Edit:
    name, value, back = draw.choice((
        ("tcp_sack", 0, 1), ("tcp_timestamps", 0, 1), ("tcp_window_scaling", 0, 1), ("tcp_ecn", 1, 2),
        ("tcp_base_mss", 512, 1024), ("tcp_reordering", 30, 3), ("tcp_recovery", 0, 1), ("tcp_early_retrans", 0, 3),
    ))  # fmt: skip
    netns = draw.choice(("tb-a", "tb-b"))
    plan = draw.choice(("plain", "deep", "web"))
    return Edit(plan, f"{name}={value} in {netns} at connect", written(f"{SYSCTL}/{name}", value, back, netns))


def _when(times: Mapping[str, float]) -> str:
    return f"from {times['at']} s for {times['span']} s"


_DRAWN: dict[str, Callable[[random.Random, Any], Edit]] = {
    "rate": _drawn_rate,
    "delay": _drawn_delay,
    "buffer": _drawn_buffer,
    "aqm": _drawn_aqm,
    "loss": _drawn_loss,
    "traffic": _drawn_traffic,
    "option": _drawn_option,
}


def main() -> None:
    for edit in (*EDITS, *drawn()):
        if sys.argv[1:] and not any(word in edit.name for word in sys.argv[1:]):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = done(edit, Path(folder))
            except Exception as error:  # whatever it is, nobody takes it for a valid trial
                print(f"failed   {edit.name}: {error!s:.200}", flush=True)
                continue
        found = "; ".join(f"{each.check}: {each.text}" for each in result.findings if each.verdict != "valid")
        print(f"{result.verdict:9}{edit.name}: {found:.300}", flush=True)


if __name__ == "__main__":
    main()
