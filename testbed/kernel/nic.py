"""Real NICs of this computer: checks that one is free, attaches it, and restores it. Reads and changes the host's
network; writes to the journal first.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from .. import journal, process
from ..error import MachineError, UserError, one_of
from ..plan.node.real_nic import Before, Facts, Now, Wanted, attach, in_use, no_ipv6, undo

KIND = "nic"


def facts(nic: str) -> Facts:
    """What the kernel says about a NIC and all that uses it. Raises UserError if there is no such NIC."""
    links = _asked("ip", "-j", "-d", "link", "show")
    link = next((each for each in links if each["ifname"] == nic), None)
    if link is None:
        real = [each["ifname"] for each in links if each["ifname"] != "lo"]
        raise UserError(f"this computer has no network interface {nic!r}; allowed: {one_of(real, nic)}")
    addresses = [each for one in _asked("ip", "-j", "address", "show", "dev", nic) for each in one.get("addr_info", [])]
    return {
        "link": link,
        "addresses": addresses,
        "routes": [*_asked("ip", "-j", "-4", "route", "show", "dev", nic), *_v6_routes(nic)],
        "above": [each["ifname"] for each in links if each.get("link") == nic and _kind(each) != "veth"],
        "wireless": Path("/sys/class/net", nic, "wireless").exists(),
        "ssh": os.environ.get("SSH_CONNECTION", ""),
    }


def _kind(link: Mapping[str, Any]) -> str | None:
    """The kind of a virtual device; None for a real one."""
    found: str | None = link.get("linkinfo", {}).get("info_kind")
    return found


def _v6_routes(nic: str) -> list[dict[str, Any]]:
    try:
        return _asked("ip", "-j", "-6", "route", "show", "dev", nic)
    except process.CommandError:  # a kernel without IPv6
        return []


def _asked(*words: str) -> list[dict[str, Any]]:
    found = json.loads(process.run(words).stdout or "[]")
    return [each for each in found if each]


def check(nic: str) -> None:
    """Raises UserError if there is no such NIC, MachineError with the reason if it is in use or attached already."""
    wanted = Wanted(nic, 0)
    found = in_use(nic, facts(nic))
    if found is not None:
        raise MachineError(f"the NIC {nic} is in use: {found[0]}", found[1])
    for entry, held in journal.entries():
        if entry.kind == KIND and entry.about["nic"] == nic and entry.about["space"] == _space():
            owner = entry.about["owner"]
            if held:
                raise MachineError(f"the NIC {nic} is attached to {owner}", "testbed status, and testbed down NAME")
            raise MachineError(f"the NIC {nic} was left attached by {owner}, which was killed", "testbed clean")
    if _exists(wanted.outer) or _exists(wanted.inner):
        raise MachineError(
            f"there is a device {wanted.outer} or {wanted.inner} already", f"ip link show {wanted.outer}"
        )


@contextmanager
def attached(wanted: Wanted, owner: str) -> Iterator[None]:
    """Attaches the NIC until the block ends. Raises as `check` does."""
    check(wanted.nic)
    before = _before(wanted.nic)
    about = {"nic": wanted.nic, "mtu_bytes": wanted.mtu_bytes, "before": asdict(before), "owner": owner}
    held = journal.note(KIND, journal.unique(wanted.nic), space=_space(), **about)
    try:
        for words in attach(wanted, before):
            _do(words)
        yield
    finally:
        give_back(wanted, before)
        held.remove()


def is_left(wanted: Wanted, before: Before) -> bool:
    """Whether there is anything to restore."""
    return next(undo(wanted, before, _now(wanted)), None) is not None


def give_back(wanted: Wanted, before: Before) -> None:
    """Restores what is as we left it, and leaves what somebody has changed since."""
    for words in undo(wanted, before, _now(wanted)):
        try:
            _do(words)
        except process.CommandError:
            if words[:3] != ("ip", "link", "del") or _exists(words[3]):  # it vanishes with its network
                raise


def _do(words: tuple[str, ...]) -> None:
    if words[0] == "write":
        Path(words[1]).write_text(words[2])
    else:
        process.run(words)


def _before(nic: str) -> Before:
    link = facts(nic)["link"]
    features = process.run(("ethtool", "-k", nic)).stdout
    path = Path(no_ipv6(nic))
    return Before(
        index=link["ifindex"],
        up="UP" in link["flags"],
        promiscuous="PROMISC" in link["flags"],
        mtu_bytes=link["mtu"],
        lro="large-receive-offload: on\n" in features,
        no_ipv6=path.read_text().strip() if path.exists() else None,
    )


def _now(wanted: Wanted) -> Now:
    is_here = _exists(wanted.nic)
    tables = process.run(("nft", "-j", "list", "tables", "netdev")).stdout
    names = {each["table"]["name"] for each in json.loads(tables)["nftables"] if "table" in each}
    return Now(
        nic=_before(wanted.nic) if is_here else None,
        outer=_exists(wanted.outer),
        inner=_exists(wanted.inner),
        table=wanted.table in names,
        others=is_here and in_use(wanted.nic, facts(wanted.nic)) is not None,
    )


def left(about: Mapping[str, Any]) -> tuple[Wanted, Before] | None:
    """The content of a journal entry; None if it belongs to another network namespace, or to before a restart."""
    if about["space"] != _space():
        return None
    before = {each.name: about["before"][each.name] for each in fields(Before)}
    return Wanted(about["nic"], about["mtu_bytes"]), Before(**before)


def _space() -> str:
    """This network namespace, since this computer started."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {os.readlink('/proc/self/ns/net')}"


def _exists(device: str) -> bool:
    with contextlib.suppress(process.CommandError):
        process.run(("ip", "link", "show", "dev", device))
        return True
    return False
