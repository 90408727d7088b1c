"""An event: a state of a TCP flow in which a link changes, in the place of a time. Pure, no I/O.

TCP's states of recovery are those of Linux (`enum tcp_ca_state`, include/uapi/linux/tcp.h). The phases of BBR are what
its gains say, which a socket tells first of it in any version (`struct tcp_bbr_info`, include/uapi/linux/inet_diag.h).
Those of mainline's tcp_bbr.c, where 256 is a gain of 1:

    phase         gain of pacing   of the window   source
    startup       739              739             bbr_high_gain, 2/ln(2)
    drain         88               739             bbr_drain_gain, its inverse
    probe_bw      320, 192, 256    512             bbr_pacing_gain[], bbr_cwnd_gain
    probe_up      320              512             the first of bbr_pacing_gain[]
    probe_down    192              512             the second
    probe_rtt     256              256             bbr_update_gains()

Mainline has no PROBE_UP and no PROBE_DOWN by name: draft-ietf-ccwg-bbr calls so what its PROBE_BW does with these two
gains. So that a BBR with other gains is in the same phases, only their sizes count: of pacing 2 or more is startup, a
half or less drain; else a window's of 1 or less is probe_rtt, and the rest probe_bw, where a gain of pacing above 1 is
probe_up, and one below it probe_down. That holds for BBRv3, too (google/bbr, branch v3: 710, 88; 320, 232, 256). Any
control that tells no gains is in slow_start while its window is below its threshold, else in avoidance (RFC 5681,
section 3.1).
"""

from __future__ import annotations

from typing import Any

from ..codec import scalar
from ..codec.fault import Fault
from ..codec.keyed import Keyed, Kind, key, keyed
from ..codec.kind import listed, whole, word
from ..error import ValueRefused

STATES = ("open", "disorder", "cwr", "recovery", "loss")
"""TCP's states of recovery, by their numbers."""
OF_BBR = ("startup", "drain", "probe_bw", "probe_up", "probe_down", "probe_rtt")
OF_OTHERS = ("slow_start", "avoidance")
PHASES = (*OF_BBR, *OF_OTHERS)

LOOK_NS = 1_000_000
"""How often the sender is looked at: at whole milliseconds after the start of the workload."""

FLOWS_MAX, OCCURRENCE_MAX = 128, 1_000_000


def _flow(value: Any) -> int | str:
    try:
        return scalar.whole(0, FLOWS_MAX - 1)(value) if str(value).isdecimal() else scalar.name(value)
    except ValueRefused:
        allowed = f"0 to {FLOWS_MAX - 1}, a flow of the workload, or the name of a background"
        raise ValueRefused(f"{str(value)!r} is no flow", allowed) from None


FLOW = Kind(
    _flow,
    schema={
        "anyOf": [{"type": "integer", "minimum": 0, "maximum": FLOWS_MAX - 1}, {"type": "string"}],
        "description": "A flow of the workload, from 0, or a background by its name.",
    },
)


def _words(*allowed: str) -> Kind:
    """One of these words, or a list of them, of which any will do."""
    one = word(*allowed)
    several = listed(one, least=1)

    def read(value: Any) -> tuple[str, ...]:
        found: tuple[str, ...] = several.read(value) if isinstance(value, list | tuple) else (one.read(value),)
        if len({*found}) < len(found):
            raise ValueRefused("a word comes twice", "each once")
        return found

    return Kind(
        read,
        lambda found: (found[0] if len(found) == 1 else list(found)) if found else None,
        lambda: {"anyOf": [one.described(), several.described()]},
    )


@keyed
class When(Keyed):
    """What a change waits for: the flow is in this state of recovery and in this phase, in any if one is left out."""

    flow: int | str = key("flow", FLOW, default=0)
    states: tuple[str, ...] = key(
        "state", _words(*STATES), "TCP's state of recovery; of a list any will do.", default=()
    )
    phases: tuple[str, ...] = key(
        "phase", _words(*PHASES), "The phase of the congestion control; of a list any will do.", default=()
    )
    occurrence: int = key(
        "occurrence", whole(1, OCCURRENCE_MAX), "Which time that it comes into this state, from 1.", default=1
    )

    def faults(self) -> Any:
        if not self.states and not self.phases:
            yield Fault((), "any state would do", "state, phase", named=True)

    def written(self) -> dict[str, Any]:
        """Without what is empty: no state is any state."""
        return {name: value for name, value in super().written().items() if value is not None}

    def holds(self, state: str, phases: tuple[str, ...]) -> bool:
        """Whether a flow that is in this state and in these phases is what is meant."""
        return (not self.states or state in self.states) and (not self.phases or not {*self.phases}.isdisjoint(phases))

    @property
    def words(self) -> str:
        """Such as "flow 0 is in recovery, the second time"."""
        flow = f"flow {self.flow}" if isinstance(self.flow, int) else f"a flow of {self.flow}"
        wanted = " and in ".join(" or ".join(each) for each in (self.states, self.phases) if each)
        return f"{flow} is in {wanted}" + (f", time {self.occurrence}" if self.occurrence > 1 else "")


def phases(cwnd: int, ssthresh: int, gains: tuple[int, int] | None) -> tuple[str, ...]:
    """The phases of a sender. `gains` are BBR's, of pacing and of the window, in 1/256; None if it tells none. Before
    its first ACK BBR has no phase.
    """
    if gains is None:
        return ("slow_start",) if cwnd < ssthresh else ("avoidance",)
    pacing, window = gains
    if not pacing or not window:
        return ()
    if pacing >= 2 * UNIT or pacing <= UNIT // 2:
        return ("startup",) if pacing > UNIT else ("drain",)
    if window <= UNIT:
        return ("probe_rtt",)
    return ("probe_bw", *(("probe_up",) if pacing > UNIT else ("probe_down",) if pacing < UNIT else ()))


UNIT = 256
"""A gain of 1."""
