"""What students wrote, in a guest: it runs as a user who can do nothing to what the rules write. Asks who we are.

An app of a controller is nobody: it can use the channel to its switches, and its own folder. A script of a node may
also change the network of that node. Neither can enter the folder of the outputs, which belongs to somebody else.
Impostors, nodes that have the address of another node or a device in another node's network, are refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..plan.step import Location, Run, StartController, StartProgram, Step
from .rule.common import STATUS, Net, NotChecked, addresses, said

NOBODY, OTHER = 65534, 65533
"""Whom students' programs run as: the other one if nobody is who grades, and owns the outputs."""
NOTHING, NETWORK = "-all", "-all,+net_admin,+net_raw,+net_bind_service"
ALONE = (
    *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"),
    'mount -t tmpfs none /run/netns && cd /run/netns && cat >"$0" && exec "$@" </dev/null',
)
"""What a script starts ends with it, and is all that it sees of processes. It can name no other node: with the right to
change networks it could put devices there. The next word is the name of the script, whose text comes from the input.
"""
SCRIPT_S = 60
"""How long a script may take, in lab time."""


def words(capabilities: str) -> tuple[str, ...]:
    """To stand before the words of a command."""
    sets = (f"--{each}={capabilities}" for each in ("inh-caps", "ambient-caps", "bounding-set"))
    user = nobody()
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", *sets, "--")


def nobody() -> int:
    """The user that students' programs run as."""
    return OTHER if os.geteuid() == NOBODY else NOBODY


def jailed(steps: Iterable[Step]) -> Iterator[Step]:
    """The steps of this computer with controllers that run as nobody."""
    user = f"{nobody()}:{nobody()}"
    for step in steps:
        if isinstance(step, StartController):
            yield Run(("chown", "-R", user, step.folder), "controller")
            yield replace(step, words=(*words(NOTHING), *step.words))
        elif isinstance(step, StartProgram):
            yield Run(("chown", user, step.folder, f"{step.folder}/work"), "controller")
            yield replace(step, words=(*words(NOTHING), *step.words))
        else:
            yield step


def script(text: str, name: str, where: Location, out: str) -> Step:
    """A shell script of the student's, in a file of that name; its output ends with a line that says its status."""
    ended = f'"$@" 2>&1; s=$?; echo; echo {STATUS} $s'
    shell = (*ALONE, name, *words(NETWORK), "timeout", "-k", "1", str(SCRIPT_S), "sh", name)
    return Run(("sh", "-c", ended, "sh", *shell), f"script {name}", where, stdin=text, out=out)


def complaint(name: str, node: str, found: Mapping[str, str], out: str) -> str | None:
    """How a script ended, and what it said below that; None if it succeeded and said nothing, or if it did not run."""
    if out not in found:
        return None
    try:
        status, text = said(found, out)
    except NotChecked:
        return f"{name} in {node} did not come to its end"
    if not status and not text.strip():
        return None
    killed = status in (124, 137)
    how = f"was ended after {SCRIPT_S} s" if killed else f"ended with status {status}" if status else "said"
    return f"{name} in {node} {how}:\n{text}" if text.strip() else f"{name} in {node} {how}"


WORDS = "ip -o address show && ip -o link show"
DEVICE = re.compile(r"^[0-9]+: ([^ @:]+)(@[^ ]*)?: .*\blink-netns", re.MULTILINE)
"""One that has its other end, or the device below it, in another namespace."""


def impostor_steps(net: Net) -> Iterator[Step]:
    """Asks every node that has an address for all that it has, and for its devices."""
    for node in net.addressed:
        yield net.run(node, WORDS, f"addresses-{node}.out")


def refuse_impostors(net: Net, found: Mapping[str, str]) -> None:
    """Raises NotChecked if one node has the address of another, or a way to another that is no link of the topology, or
    if it did not say what it has.
    """
    owners = {address.ip: port.node for port in net.plan.book.ports for address in port.addresses}
    for node in net.addressed:
        status, text = said(found, f"addresses-{node}.out")
        if status:
            raise NotChecked(f"{node} does not say its addresses: {text.strip()[:200]}")
        links = [port.device for port in net.plan.book.ports_of(node)]
        more = [each[1] for each in DEVICE.finditer(text) if each[1] not in links]
        if more:
            raise NotChecked(f"the device {more[0]} of {node} reaches another node, and is no link of the network")
        for address in addresses(text):
            if owners.get(address, node) != node:
                raise NotChecked(f"{node} has the address {address} of {owners[address]}, and answers in its place")
