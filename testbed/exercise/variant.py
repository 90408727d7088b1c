"""Networks like the one that an exercise gives, in which its rules must hold, too: those that come with it, those of a
folder that only the teacher has, and one that a secret draws. Reads files.

What a secret draws depends on the secret and the exercise alone: the same secret gives the same network on every
computer.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from ..codec.frozen import dataclass
from ..error import SpecError, UserError
from ..interactive.build import build
from ..model.run_setting import LAB
from ..spec.load import load_topology
from ..spec.syntax import input_file
from ..spec.syntax.document import Position, mapping, parse
from .draw import DrawFile
from .file import SOLUTION, STARTER, VARIANTS, Exercise, FileSet
from .rule.common import Net

SECRET_BYTES = 16
"""The least that a secret has: a shorter one could be tried out."""
SECRET_BYTES_MAX = 64 << 10
MAKE_A_SECRET = "head -c 32 /dev/urandom | base64 > secret.txt && chmod 600 secret.txt"
DRAWN = "one that only this marking has"
OVS, HOST = "ovs", "host"
LITERAL = re.compile(r"(?<![0-9.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![0-9.])")


def shipped(exercise: Exercise) -> tuple[FileSet, ...]:
    """Those that come with the exercise, and those that it was given for this marking."""
    own = (_of(exercise.folder / VARIANTS / name, about) for name, about in exercise.file.variants.items())
    return (*own, *exercise.secret)


def _of(folder: Path, about: str) -> FileSet:
    return FileSet(about, {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()})


def of_folder(exercise: Exercise, folder: Path) -> tuple[FileSet, ...]:
    """Those of a folder: NAME/FILE, each file in place of the given one of its name. Raises UserError for a folder
    without any, and for a file that stands for none that is given.
    """
    form = f"folders with files in place of {', '.join(exercise.given)}, such as {folder}/one/{exercise.given[0]}"
    if not exercise.given:
        raise UserError(f"{exercise.name} has no given file that could be another one; allowed: no --variants")
    found = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    if not found:
        raise UserError(f"{folder} has no variant of {exercise.name}; allowed: {form}")
    for one in found:
        names = sorted(path.name for path in one.iterdir())
        for name in names:
            if name not in exercise.given or not (one / name).is_file():
                raise UserError(f"{one / name} stands for no file that is given in {exercise.name}; allowed: {form}")
        if not names:
            raise UserError(f"{one} is empty; allowed: {form}")
    return tuple(_of(one, one.name) for one in found)


def secret(path: Path) -> bytes:
    """The text of a file that only its owner can read. Raises UserError for one that others can read, or that is
    short.
    """
    try:
        about, data = path.stat(), input_file.read(path, SECRET_BYTES_MAX).strip()
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}; allowed: {MAKE_A_SECRET}") from None
    if about.st_mode & 0o077:
        raise UserError(f"{path}: others can read it; allowed: chmod 600 {path}")
    if len(data) < SECRET_BYTES:
        what = f"{path}: a secret of {len(data)} bytes could be tried out"
        raise UserError(f"{what}; allowed: {SECRET_BYTES} bytes or more: {MAKE_A_SECRET}")
    return data


@dataclass(frozen=True)
class _Drawing:
    """A network that is drawn: its topology file as data, and the addresses that are taken."""

    random: Random
    data: dict[str, Any]
    taken: set[str]

    @property
    def nodes(self) -> dict[str, Any]:
        """The nodes, by name."""
        return mapping(self.data["nodes"])

    @property
    def links(self) -> dict[str, Any]:
        """The links, by name."""
        return mapping(self.data["links"])


def drawn(exercise: Exercise, secret: bytes) -> FileSet:
    """The network that a secret draws. Raises UserError if the exercise does not say what may be drawn."""
    asked = exercise.file.draw
    if asked is None or exercise.file.topology is None:
        raise UserError(
            f"{exercise.name} does not say what a secret may draw; allowed: --variants DIR, or an exercise with the "
            "key draw"
        )
    digest = hashlib.sha256(exercise.name.encode() + b"\0" + secret).digest()
    before = _net(exercise, {})
    text = (exercise.folder / exercise.file.topology).read_text()
    one = _Drawing(Random(digest), mapping(parse(text, Position(exercise.file.topology, 1)).data), _taken(exercise))
    one.taken.update(str(address.ip) for node in before.topology.nodes for address in before.addresses(node.name))
    for name in asked.addresses:
        _readdress(one, name, before)
    for name in asked.macs:
        one.nodes[name]["mac"] = _mac(one.random)
    if asked.hosts:
        _more_hosts(one, 1 + one.random.randrange(asked.hosts), before)
    if asked.ports:
        _shuffled(one)
    topology = {exercise.file.topology: yaml.safe_dump(one.data, sort_keys=False).encode()}
    net = _net(exercise, topology)
    return FileSet(DRAWN, {**topology, **_tables(asked, net)})


def _tables(asked: DrawFile, net: Net) -> dict[str, bytes]:
    """The given files that say the same of the network that was drawn."""
    return {name: net.filled(text).encode() for name, text in asked.files.items()}


def _net(exercise: Exercise, others: Mapping[str, bytes]) -> Net:
    """The network with some given files replaced, and the student's as they are at the start."""
    assert exercise.file.topology is not None, "BUG: no topology"
    with TemporaryDirectory(prefix="testbed-draw-") as scratch:
        folder = Path(scratch)
        for name in exercise.given:
            (folder / name).write_bytes(others.get(name) or (exercise.folder / name).read_bytes())
        for name in exercise.file.files:
            sources = (exercise.folder / each / name for each in (STARTER, SOLUTION))
            found = next((path for path in sources if path.is_file()), None)
            if found is not None:
                (folder / name).write_bytes(found.read_bytes())
        try:
            topology = load_topology(folder / exercise.file.topology)
        except SpecError as error:
            text = str(error).replace(f"{folder}/", "")
            raise UserError(f"the network that was drawn for {exercise.name} is none: {text}") from None
        return Net(topology, build(topology, LAB).plan)


def _taken(exercise: Exercise) -> set[str]:
    """Every address that a text of the exercise names: a rule or a handout may mean it."""
    texts = [exercise.folder / name for name in ("exercise.yaml", "handout.md")]
    texts += [exercise.folder / STARTER / name for name in exercise.file.files]
    return {found for path in texts if path.is_file() for found in LITERAL.findall(path.read_text(errors="replace"))}


def _free(one: _Drawing, network: ipaddress.IPv4Network) -> str:
    """An address of the network that nothing has, which then is taken. Raises UserError if there is none."""
    last = network.num_addresses - 2
    numbers = one.random.sample(range(1, last + 1), min(last, len(one.taken) + 1))  # one more than can be taken
    found = next((text for number in numbers if (text := str(network[number])) not in one.taken), None)
    if found is None:
        raise UserError(f"draw: every address of {network} is taken; allowed: fewer hosts, or a larger network")
    one.taken.add(found)
    return found


def _network(net: Net, node: str) -> ipaddress.IPv4Network:
    """Of a node's first IPv4 address. Raises UserError."""
    found = next((each for each in net.addresses(node) if isinstance(each, ipaddress.IPv4Interface)), None)
    if found is None or found.network.num_addresses < 16:
        raise UserError(f"draw: {node} has no address in a network with room for another one; allowed: other nodes")
    return found.network


def _readdress(one: _Drawing, name: str, before: Net) -> None:
    network = _network(before, name)
    address = f"{_free(one, network)}/{network.prefixlen}"
    for link in one.links.values():
        if name in mapping(mapping(link).get("addresses")):
            link["addresses"][name] = address
            return
    one.nodes[name]["addresses"] = address


def _mac(random: Random) -> str:
    """Of one station, and given by hand."""
    return ":".join(["0e", *(f"{random.randrange(256):02x}" for _ in range(5))])


def _more_hosts(one: _Drawing, number: int, before: Net) -> None:
    """Hosts that no rule names, at switches that have a host: the other ports and addresses are as good as theirs."""
    places = [
        (node.name, end)
        for node in before.topology.nodes
        if node.type == HOST
        for link in before.topology.links
        for end in link.ends
        if node.name in link.ends and before.topology.node(end).type == OVS
    ]
    if not places:
        raise UserError("draw: no host is at an Open vSwitch; allowed: no hosts to draw")
    for each in range(1, number + 1):
        beside, switch = one.random.choice(places)
        name, network = f"more-{each}", _network(before, beside)
        address = f"{_free(one, network)}/{network.prefixlen}"
        one.nodes[name] = {"type": HOST, "addresses": address, "mac": _mac(one.random)}
        one.links[f"{name}-port"] = {"ends": [name, switch]}


def _shuffled(one: _Drawing) -> None:
    """The links in another order, so that ports have other numbers. Links between switches keep their order: an app may
    know that the spines of a fabric have the leaves at their ports in order.
    """
    links = [*one.links.items()]
    one.random.shuffle(links)
    inner = iter([each for each in one.links.items() if _is_inner(one, each[1])])
    one.data["links"] = dict(next(inner) if _is_inner(one, each[1]) else each for each in links)


def _is_inner(one: _Drawing, link: Any) -> bool:
    return all(mapping(one.nodes.get(end)).get("type") == OVS for end in mapping(link)["ends"])


def with_secret(exercise: Exercise, folder: Path | None, key: Path | None) -> Exercise:
    """The exercise with the networks that only this marking has. Raises UserError, also where no rule would be checked
    in them.
    """
    if (folder or key) and not exercise.file.in_network:
        raise UserError(
            f"{exercise.name} has no rule that is checked in a network: answers, and what trials measure, are the same "
            "in every variant; allowed: no --variants and --secret"
        )
    more = () if folder is None else of_folder(exercise, folder)
    if key is not None:
        more = (*more, drawn(exercise, secret(key)))
    return replace(exercise, secret=(*exercise.secret, *more))
