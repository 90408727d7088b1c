"""An emulator as values: what was asked of each direction of a link, and where its counters are. Pure, no I/O."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Literal

from ...codec.frozen import dataclass
from ...model.link.impairment import Direction, Loss, RandomLoss, Way
from .queue import MadeQueue

DELAY, RATE, BUFFER = "1:", "2:", "3:"
"""Handles of the queueing disciplines: netem, tbf, and its child: a queue that was asked, or else a pfifo if the
buffer is counted in packets."""
POLICE, PER_FLOW = "4:", "6:"
"""Those of a policer and of a cap for each flow, in this order between the delay and the rate."""

ETHERNET_BYTES = 14

START = -1
"""In the place of a time: before all of them."""


def frame_bytes(mtu_bytes: int) -> int:
    """The size of a full packet in a queue and for a rate: with the Ethernet header, without preamble and gap."""
    return mtu_bytes + ETHERNET_BYTES


@dataclass(frozen=True)
class State:
    """What a stage must do from `at_ns` after the start of the workload on.

    `phase`, `limit` and `queue` are as in Stage. `generation` numbers the losses: each has its own counters, which
    start at 0.
    """

    at_ns: int
    asked: Direction
    phase: int
    limit: int | None
    generation: int
    queue: MadeQueue | None = None

    @property
    def loss(self) -> Loss | None:
        return self.asked.loss


@dataclass(frozen=True)
class Policing:
    """A policy with its volume drawn: after `after_bytes` of IP packets it drops what exceeds `rate_bps`.

    The meter runs from the start. Its bucket holds what comes in a second at that rate, plus `burst_bytes`.
    """

    after_bytes: int
    rate_bps: int
    burst_bytes: int

    @property
    def bucket_bytes(self) -> int:
        return self.rate_bps // 8 + self.burst_bytes


@dataclass(frozen=True)
class Stage:
    """One direction through an emulator: what was asked of it, and where its counters are.

    `phase` is the number of data packets by which a periodic loss comes early. `limit` is the buffer of the rate, in
    `limit_unit`; None without a rate. `queue` None is a fifo. These describe the start; a schedule leads to the later
    `states`. `keeps_order`
    says whether packets must not overtake each other when the delay decreases, `has_netem` whether it ever needs netem.
    Of each flow that has a cap, `flow_bytes` wait at most; 0 if it polices.
    `where` is what the seeded phases of its faults are drawn from; `mtu_bytes` is that of the link. With `cuts_late`
    superpackets are cut when they leave the token bucket, which counts them as the packets that they stand for.
    """

    way: Way
    asked: Direction
    phase: int
    limit: int | None
    limit_unit: Literal["packets", "bytes"]
    delay_device: str
    loss_device: str
    rate_device: str
    states: tuple[State, ...] = ()
    policing: Policing | None = None
    keeps_order: bool = False
    has_netem: bool = False
    where: str = ""
    mtu_bytes: int = 1500
    queue: MadeQueue | None = None
    cuts_late: bool = False
    flow_bytes: int = 0

    @property
    def loss(self) -> Loss | None:
        return self.asked.loss

    @property
    def start(self) -> State:
        return State(0, self.asked, self.phase, self.limit, 0, self.queue)

    @cached_property
    def history(self) -> tuple[State, ...]:
        """Every state, from the start on."""
        return (self.start, *self.states)

    @property
    def fastest_bps(self) -> int:
        """The highest rate of any state; 0 without one."""
        return max(state.asked.rate_bps or 0 for state in self.history)

    @property
    def loses_at_random(self) -> bool:
        """Whether it does in any state."""
        return any(isinstance(state.loss, RandomLoss) for state in self.history)

    @cached_property
    def changes(self) -> dict[str, dict[int, int]]:
        """For each impairment in `more` of any state: how often it has changed until the state that begins at a time;
        START is that of the start.
        """
        keys = {key for state in self.history for key, _ in state.asked.more}
        found: dict[str, dict[int, int]] = {key: {START: 0} for key in sorted(keys)}
        for key, numbers in found.items():
            number = 0
            for before, state in pairwise(self.history):
                number += before.asked.value(key) != state.asked.value(key)
                numbers[state.at_ns] = number
        return found

    def changed(self, state: State, key: str) -> int:
        """How often an impairment in `more` has changed until a state."""
        return self.changes[key][START if state == self.history[0] else state.at_ns]

    def data_counter(self, generation: int = 0) -> str:
        return f"data-{self.way}" + (f"-{generation}" if generation else "")

    def drop_counter(self, generation: int = 0) -> str:
        return f"dropped-{self.way}" + (f"-{generation}" if generation else "")

    @property
    def generations(self) -> range:
        return range(self.history[-1].generation + 1)

    @property
    def data_counters(self) -> tuple[str, ...]:
        """The counters of all losses."""
        return tuple(map(self.data_counter, self.generations))

    @property
    def drop_counters(self) -> tuple[str, ...]:
        return tuple(map(self.drop_counter, self.generations))

    @property
    def passed_counter(self) -> str:
        """The counter of all that came to a policy."""
        return f"passed-{self.way}"

    @property
    def policed_counter(self) -> str:
        """The counter of what the policy dropped."""
        return f"policed-{self.way}"

    @property
    def oversize_counter(self) -> str:
        return f"oversize-{self.way}"

    @property
    def delay_place(self) -> tuple[str, str]:
        """Device and handle of the netem, or of where it would be if the stage needed it."""
        return self.delay_device, DELAY

    @property
    def rate_place(self) -> tuple[str, str]:
        """Device and handle of the token bucket."""
        return self.rate_device, RATE

    @property
    def police_place(self) -> tuple[str, str]:
        """Device and handle of a policer."""
        return self.rate_device, POLICE

    @property
    def per_flow_place(self) -> tuple[str, str]:
        """Device and handle of a cap for each flow."""
        return self.rate_device, PER_FLOW

    @property
    def buffer_place(self) -> tuple[str, str]:
        """Device and handle of a queue that was asked, or of a buffer that is counted in packets."""
        return self.rate_device, BUFFER

    @property
    def own_places(self) -> tuple[tuple[str, str], ...]:
        """Where netem, the token bucket, the buffer below it, a policer and a cap for each flow are, or would be."""
        return self.delay_place, self.rate_place, self.buffer_place, self.police_place, self.per_flow_place

    def buffer_bytes(self, frame_bytes: int) -> int:
        """The largest size of the rate's buffer over all states, with frames of this size."""
        return max(state.limit or 0 for state in self.history) * (1 if self.limit_unit == "bytes" else frame_bytes)

    @property
    def is_nested(self) -> bool:
        """Whether the rate is a child of the delay, which then also counts the drops of the buffer."""
        return self.delay_device == self.rate_device


@dataclass(frozen=True)
class Emulator:
    """The emulator of one link. It runs on the machine `on`; None is this computer."""

    link: str
    netns: str
    mtu_bytes: int
    forward: Stage
    backward: Stage
    on: str | None = None

    @property
    def stages(self) -> tuple[Stage, Stage]:
        return self.forward, self.backward

    def stage(self, way: Way) -> Stage:
        return self.forward if way == "forward" else self.backward
