"""Network interfaces that a computer lends to a trial: records their state, and restores it exactly.

Stands alone.

It runs on that computer, as root. A copy of it lies beside its journal: `python3 /var/lib/testbed/lent.py` restores
what a killed trial left. (Both keep their names on disk across versions.)
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

FOLDER = "/var/lib/testbed"
JOURNAL = FOLDER + "/lent.json"
PER_DEVICE = (
    "/proc/sys/net/ipv4/conf",
    "/proc/sys/net/ipv6/conf",
    "/proc/sys/net/ipv4/neigh",
    "/proc/sys/net/ipv6/neigh",
)
QUEUE_FILES = ("gro_flush_timeout", "napi_defer_hard_irqs", "tx_queue_len")
NOT_SETTABLE = ("stable_secret",)

MYPY = False
if MYPY:
    from typing import Any

    Look = dict[str, Any]


class NotLent(Exception):
    """Why a loan is refused, in words for the user."""


def call(*words: str) -> str:
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        raise NotLent(f"{' '.join(words)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def devices() -> list[str]:
    return [name for name in sorted(os.listdir("/proc/sys/net/ipv4/conf")) if name not in ("all", "default", "lo")]


def problems(nic: str, ssh_address: str | None) -> list[str]:
    """Why this interface cannot be lent; empty if it can."""
    if nic not in devices():
        return [f"there is no network interface {nic} (it has {', '.join(devices()) or 'none'})"]
    found = look(nic)
    said = []
    if ssh_address and any(each["local"] == ssh_address for each in found["addresses"]):
        said.append(f"{nic} has the address {ssh_address}, over which this very SSH connection runs")
    elif any(route.startswith("default ") for route in found["routes"]):
        said.append(f"{nic} carries the machine's default route")
    if found["master"]:
        said.append(f"{nic} is a part of {found['master']}")
    if found["qdisc"]:
        said.append(f"{nic} has a queueing discipline of its own ({found['qdisc']}), which could not be restored")
    return said


def look(nic: str) -> Look:
    """The state of an interface that a trial, or a move to another network namespace, changes."""
    (link,) = [each for each in json.loads(call("ip", "-j", "-d", "address", "show", "dev", nic)) if each]
    kept = ("local", "prefixlen", "broadcast", "scope", "label", "family", "peer", "address")
    addresses = [{key: each[key] for key in kept if key in each} | _lifetime(each) for each in link["addr_info"]]
    routes = [
        line.strip()
        for v in ("-4", "-6")
        for line in call("ip", v, "route", "show", "table", "all", "dev", nic).splitlines()
    ]
    roots = [each for each in json.loads(call("tc", "-j", "qdisc", "show", "dev", nic)) if each.get("root")]
    own = [f"{each['kind']} {each['handle']}" for each in roots if each["handle"] != "0:"]
    neighbours = [
        line.strip()
        for v in ("-4", "-6")
        for line in call("ip", v, "neighbour", "show", "nud", "permanent", "dev", nic).splitlines()
    ]
    return {
        "up": "UP" in link["flags"],
        "scheduler": link.get("qdisc"),
        "promisc": "PROMISC" in link["flags"],
        "mtu": link["mtu"],
        "mac": link.get("address"),
        "alias": link.get("ifalias", ""),
        "master": link.get("master"),
        "addresses": addresses,
        "routes": [line for line in routes if _is_own(line)],
        "neighbours": neighbours,
        "qdisc": own[0] if own else None,
        "features": features(nic),
        "sysctls": {path: value for folder in PER_DEVICE for path, value in _files(f"{folder}/{nic}")},
        "queue": dict(_files(f"/sys/class/net/{nic}", QUEUE_FILES)),
    }


def _lifetime(address: Look) -> Look:
    return {key: address[key] for key in ("valid_life_time", "preferred_life_time") if address.get("dynamic")}


def _is_own(route: str) -> bool:
    """Leaves out those that the kernel makes by itself with each address."""
    return not re.search(
        r"\bproto kernel\b|^(local|broadcast|multicast|anycast|unreachable) |\bproto ra\b|^ff00::", route
    )


def features(nic: str) -> dict[str, str]:
    """Offloads that can be switched."""
    try:
        lines = call("ethtool", "-k", nic).splitlines()
    except (NotLent, OSError):  # not every kind of device has any
        return {}
    pairs = (line.strip().split(": ", 1) for line in lines if ": " in line)
    return {name: words.split()[0] for name, words in pairs if "[fixed]" not in words}


def _files(folder: str, names: tuple[str, ...] | None = None) -> list[tuple[str, str]]:
    found = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name not in NOT_SETTABLE and (names is None or name in names):
            try:
                with open(f"{folder}/{name}") as file:
                    found.append((f"{folder}/{name}", file.read().strip()))
            except OSError:  # not every key can be read
                pass
    return found


def lend(nics: list[str], netns: str) -> None:
    """Records their state before anything changes, and the namespace that will have them."""
    journal = read_journal() or {"namespaces": [], "nics": {}}
    if os.path.exists(f"/run/netns/{netns}"):
        raise NotLent(f"a network namespace {netns} exists and is not ours; `ip netns del {netns}` removes it")
    journal["namespaces"].append(netns)
    for nic in nics:
        journal["nics"][nic] = look(nic)
    write_journal(journal)


def give_back() -> list[str]:
    """Restores every lent interface to its place and state, and removes our namespaces; returns what failed."""
    journal = read_journal()
    if journal is None:
        return []
    if journal.get("boot") != boot_id():  # a reboot has restored everything
        os.unlink(JOURNAL)
        return []
    said: list[str] = []
    for nic in journal["nics"]:
        for netns in journal["namespaces"]:
            _take_home(nic, netns, said)
    for netns in journal["namespaces"]:
        if os.path.exists(f"/run/netns/{netns}"):
            _tried(said, "ip", "netns", "del", netns)
    for nic, was in journal["nics"].items():
        said += _put_back(nic, was) if nic in devices() else [f"{nic} is gone"]
    if said:
        journal["said"] = said
        write_journal(journal)
    else:
        os.unlink(JOURNAL)
    return said


def _take_home(nic: str, netns: str, said: list[str]) -> None:
    """Finds it by its alias: in a namespace its name differs, and its number may."""
    if not os.path.exists(f"/run/netns/{netns}"):
        return
    for link in json.loads(call("ip", "-j", "-d", "-n", netns, "link", "show")):
        if link.get("ifalias") == alias(nic):
            words = ("ip", "-n", netns, "link", "set", link["ifname"])
            _tried(said, *words, "down")
            _tried(said, *words, "netns", str(os.getpid()), "name", nic)


def alias(nic: str) -> str:
    """The alias that identifies a lent interface, whatever its name."""
    return f"testbed:{nic}"


def _put_back(nic: str, was: Look) -> list[str]:
    said: list[str] = []
    now = look(nic)
    if now["alias"] != was["alias"]:
        _tried(said, "ip", "link", "set", nic, "alias", was["alias"])
    if now["promisc"] != was["promisc"]:
        _tried(said, "ip", "link", "set", nic, "promisc", "on" if was["promisc"] else "off")
    if now["mac"] != was["mac"]:
        _tried(said, "ip", "link", "set", nic, "address", was["mac"])
    if now["mtu"] != was["mtu"]:
        _tried(said, "ip", "link", "set", nic, "mtu", str(was["mtu"]))
    changed = [(name, value) for name, value in was["features"].items() if now["features"].get(name) != value]
    if changed:
        _tried(said, "ethtool", "-K", nic, *(word for pair in changed for word in pair))
    _write(said, [*was["sysctls"].items(), *was["queue"].items()])
    if was["up"] or was["scheduler"] != "noop":  # it gets one when it first comes up
        _tried(said, "ip", "link", "set", nic, "up")
    if not was["up"]:
        _tried(said, "ip", "link", "set", nic, "down")
    for each in was["addresses"]:
        if not any(_is(each, have) for have in look(nic)["addresses"]):
            _tried(said, "ip", "address", "add", *_address_words(each), "dev", nic)
    for line in was["neighbours"]:
        _tried(said, "ip", "neighbour", "replace", *line.replace("PERMANENT", "nud permanent").split(), "dev", nic)
    for line in was["routes"]:
        _tried(
            said, "ip", "-6" if ":" in line.split()[0] else "-4", "route", "replace", *_stable(line).split(), "dev", nic
        )
    _write(said, was["sysctls"].items())  # some depend on others, and on the state of the device
    return said + [
        f"{nic}: {what} was {was[what]} and is {now}" for what, now in look(nic).items() if _differs(what, was, now)
    ]


def _differs(what: str, was: Look, now: Any) -> bool:
    if what == "addresses":
        return {(a["local"], a["prefixlen"]) for a in now} != {(a["local"], a["prefixlen"]) for a in was[what]}
    if what in ("routes", "neighbours"):
        return {_stable(line) for line in now} != {_stable(line) for line in was[what]}
    return bool(now != was[what])


def _stable(line: str) -> str:
    """Leaves out what changes with the cable."""
    return re.sub(r" (linkdown|expires \S+)", "", line).strip()


def _is(one: Look, other: Look) -> bool:
    return (one["local"], one["prefixlen"]) == (other["local"], other["prefixlen"])


def _address_words(each: Look) -> list[str]:
    words = [f"{each['local']}/{each['prefixlen']}", "scope", each["scope"]]
    words += ["broadcast", each["broadcast"]] if "broadcast" in each else []
    words += ["label", each["label"]] if each.get("label") else []
    words += ["nodad"] if each["family"] == "inet6" else []
    if "valid_life_time" in each:
        words += ["valid_lft", str(each["valid_life_time"]), "preferred_lft", str(each["preferred_life_time"])]
    return words


def _write(said: list[str], pairs: Any) -> None:
    for path, value in pairs:
        try:
            with open(path) as file:
                if file.read().strip() == value:
                    continue
            with open(path, "w") as file:
                file.write(value)
        except OSError as error:
            said.append(f"{path} does not take {value!r}: {error.strerror}")


def _tried(said: list[str], *words: str) -> None:
    try:
        call(*words)
    except NotLent as error:
        said.append(str(error))


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def read_journal() -> Look | None:
    try:
        with open(JOURNAL) as file:
            found: Look = json.load(file)
            return found
    except FileNotFoundError:
        return None


def write_journal(journal: Look) -> None:
    """Replaces the journal atomically, and waits until it is on disk."""
    os.makedirs(FOLDER, exist_ok=True)
    journal["boot"] = boot_id()
    with open(JOURNAL + ".new", "w") as file:
        json.dump(journal, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.rename(JOURNAL + ".new", JOURNAL)


if __name__ == "__main__":
    left = give_back()
    print("\n".join(left))
    sys.exit(1 if left else 0)
