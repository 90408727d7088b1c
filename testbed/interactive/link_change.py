"""Changes a link of a running network by hand.

An emulator is set up anew, and loses the packets that wait in it. A link that goes down is a cable that is pulled out:
both ends lose their carrier, and what is in it is lost. One with `down: by hand` is cut in its middle instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..codec.keyed import read
from ..error import UserError, one_of
from ..model.link.fault import BY_HAND
from ..model.run_setting import Kernel
from ..model.topology import Link, Node, Topology
from ..native_program import tools
from ..plan import batch
from ..plan.link import fault, ruleset
from ..plan.link.stage import Emulator
from ..plan.linux import Offloads, OfTable, Qdisc
from ..plan.step import data
from ..spec.topology.change import STATES, changed, refuse_other
from ..spec.topology.file import TopologyFile
from ..trial.start.local_words import substituted
from . import cable, connection
from .build import Build, build
from .overview import EARLIER, dropped
from .running_network import RunningNetwork, rewrite

TOPOLOGY = "topology.json"
T = TypeVar("T", Node, Link)
SETS_UP = (Offloads, Qdisc, OfTable)
"""The commands of an emulator, except those that make its devices."""
ENDS = ("end0", "end1")
CLEAR = 'for each; do tc qdisc del dev "$each" root; done 2>/dev/null; nft flush ruleset'
DOWN, SWITCHED = "down", "switched"


def change(network: RunningNetwork, link: str, words: Sequence[str]) -> Mapping[str, Any]:
    """What is asked of the link now. `words` are as in `spec.topology.change`.

    Raises UserError for a link that cannot be changed so, and SpecError for words that make no sense: nothing changes
    then.
    """
    refuse_other(words)
    before = _build(network, link)
    if network.about.get("schedule") and before.topology.link(link).schedule:
        raise UserError(f"the schedule of {link} has begun; allowed: testbed up without --schedule")
    made = build(changed(before.topology, link, words), before.kernel)
    emulator = made.plan.emulator(link)
    if emulator is None:
        raise UserError(f"nothing would be left of the emulator of {link}; allowed: to keep an rtt, or a rate")
    had = fault.pairs(*_emulator(before, link).stages)
    lacking = [pair for pair in fault.pairs(*emulator.stages) if pair not in had]
    if lacking:
        what = f"the emulator of {link} lacks the devices for that, which are made when a network starts"
        raise UserError(f"{what}; allowed: these keys in the topology file, and testbed up")
    met = dropped(network, link)
    is_down = _asked(network, link).get(DOWN) == "now"
    cut = _cutting(emulator, 1, down=True) if is_down and is_by_hand(emulator) else []
    connection.carry_out(network, [*_steps(made, emulator, had), *cut])
    now = {each["name"]: each for each in json.loads(json.dumps(made.to_dict()["links"]))}[link]
    now |= {"asked": {**now["asked"], **({DOWN: "now"} if is_down else {})}, EARLIER: met}
    now |= {SWITCHED: 1} if cut else {}
    (link_now,) = (each for each in made.topology.links if each.name == link)
    _rewrite_topology(network, lambda before: replace(before, links=_with(before.links, link_now)))
    _store(network, now)
    return now["asked"]  # type: ignore[no-any-return]


def pull(network: RunningNetwork, link: str, *, down: bool) -> None:
    """Takes a link down, or up again. Raises UserError for a link that is not there, or not ours to take down."""
    if _is_plain(network, link):
        cable.pull(network, _about(network, link), down=down)
        _store(network, {**_about(network, link), "asked": {DOWN: "now"} if down else {}})
        return
    emulator = _emulator(_build(network, link), link)
    if is_by_hand(emulator):
        _cut(network, emulator, down=down)
        return
    words = [["ip", "link", "set", device, "down" if down else "up"] for device in ENDS]
    connection.carry_out(network, [{"run": each, "netns": emulator.netns, "title": f"link {link}"} for each in words])
    asked = {key: value for key, value in _asked(network, link).items() if key != DOWN}
    _store(network, {**_about(network, link), "asked": {**asked, DOWN: "now"} if down else asked})


def _is_plain(network: RunningNetwork, link: str) -> bool:
    """Whether a link asks for nothing, so that a pair of devices is all that there is of it."""
    made = build(topology_of(network), Kernel(network.about["kernel"]))
    is_link = any(each["name"] == link for each in network.about["links"])
    return is_link and made.plan.emulator(link) is None and made.topology.engine == "netns"


def is_by_hand(emulator: Emulator) -> bool:
    """Whether a link says `down: by hand`, in a direction at least."""
    return any(stage.asked.value(DOWN) == BY_HAND for stage in emulator.stages)


def _cut(network: RunningNetwork, emulator: Emulator, *, down: bool) -> None:
    """Each time gets another number than those before it; what is as asked stays, so that no packet is lost for it."""
    about = _about(network, emulator.link)
    if (about["asked"].get(DOWN) == "now") == down:
        return
    number = about.get(SWITCHED, 0) + 1
    connection.carry_out(network, _cutting(emulator, number, down=down))
    asked = {**about["asked"], DOWN: "now" if down else BY_HAND}
    _store(network, {**about, "asked": asked, SWITCHED: number})


def _cutting(emulator: Emulator, number: int, *, down: bool) -> list[dict[str, Any]]:
    return list(map(data, batch.steps(ruleset.switch(emulator, number, is_down=down))))


def _about(network: RunningNetwork, link: str) -> dict[str, Any]:
    vars(network).pop("about", None)  # it is read again
    return dict(next(each for each in network.about["links"] if each["name"] == link))


def _build(network: RunningNetwork, link: str) -> Build:
    """The network with all that was changed by hand. Raises UserError if the link cannot be changed."""
    made = build(topology_of(network), Kernel(network.about["kernel"]))
    names = [each["name"] for each in network.about["links"]]
    if link not in names:
        allowed = one_of(names, link, "none, it has no links")
        raise UserError(f"the network {network.name} has no link {link!r}; allowed: {allowed}")
    able = [each.link for each in made.plan.emulators if each.on is None and each.link in names]
    if link not in able:
        is_ours = made.topology.engine == "netns"
        why, may = ("it asks for nothing", " and ".join(STATES)) if is_ours else ("Mininet made it", "none by hand")
        what = f"the link {link} of {network.name} has no emulator of ours: {why}"
        others = f"; other changes: {', '.join(able)}" if able else ""
        more = "a rate" if is_ours else "'engine: netns'"
        raise UserError(f"{what}; allowed: {may}{others}; more with {more} in the topology file")
    return made


def _emulator(made: Build, link: str) -> Emulator:
    found = made.plan.emulator(link)
    assert found is not None, f"BUG: {link} has no emulator"
    return found


def topology_of(network: RunningNetwork) -> Topology:
    """The topology of a network, with all that was changed by hand."""
    return read(TopologyFile, json.loads((network.folder / TOPOLOGY).read_text())).topology()


def keep_node(network: RunningNetwork, node: Node) -> None:
    """From now on the network's topology has this node in the place of the one of its name."""
    _rewrite_topology(network, lambda before: replace(before, nodes=_with(before.nodes, node)))


def _rewrite_topology(network: RunningNetwork, change: Callable[[Topology], Topology]) -> None:
    rewrite(network, lambda said: TopologyFile.of(change(read(TopologyFile, said).topology())).written(), TOPOLOGY)


def _with(before: Sequence[T], now: T) -> tuple[T, ...]:
    """With one in the place of the one of its name."""
    return tuple(now if each.name == now.name else each for each in before)


def _steps(made: Build, emulator: Emulator, had: Sequence[str]) -> Iterator[dict[str, Any]]:
    devices = [*ENDS, "wire0", "wire1", *(f"{pair}{end}" for pair in had for end in (0, 1))]
    yield {"run": ["sh", "-c", CLEAR, "sh", *devices], "netns": emulator.netns, "title": f"link {emulator.link}"}
    commands = [each for each in made.plan.commands if each.netns == emulator.netns and isinstance(each, SETS_UP)]
    steps, _ = substituted(made.topology, batch.steps(commands), tools(), is_lab=made.kernel.kind != "host")
    yield from map(data, steps)


def _asked(network: RunningNetwork, link: str) -> dict[str, Any]:
    return dict(_about(network, link)["asked"])


def _store(network: RunningNetwork, now: Mapping[str, Any]) -> None:
    def put(about: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**about, "links": [now if each["name"] == now["name"] else each for each in about["links"]]}

    rewrite(network, put)
