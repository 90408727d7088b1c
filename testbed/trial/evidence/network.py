"""What was read back of the whole network after the workload, as the facts of `plan.set_up`. Reads files of a trial's
folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...model.scenario import Trial
from ...plan.node import ruleset
from ...plan.node.namespace import node_netns
from ...plan.set_up import Facts, rule_text
from ..observe import network
from ..observe.sample import device_numbers
from ..orders.file_name import AFTER, chains_file, rules_file, sysctls_file
from ..orders.sequence import Orders
from ..orders.set_up import TCP_SETTINGS, tcp_file, written_file

UNITS = {"bytes": 1, "kbytes": 1024, "mbytes": 1024**2}


def read(trial: Trial, made: Orders, folder: Path) -> Facts:
    """All facts. What a file lacks is missing here, too."""
    data = (folder / AFTER).read_bytes()
    found = network.facts(data, made.observed_after, device_numbers(data, made.observed_after))
    tcp_files = {node_netns(node): sysctls_file(node) for node in trial.workload.hosts}
    for netns in ("", *made.looked_at):
        tcp = tcp_files.get(netns, tcp_file(netns))
        for file, prefix in ((tcp, f"{TCP_SETTINGS}/"), (written_file(netns), "")):
            found |= {(netns, f"{prefix}{name}"): value for name, value in _lines(folder / file)}
    for emulator in made.plan.emulators:
        if emulator.netns in made.looked_at:
            found.pop((emulator.netns, "rules of nftables"), None)
            found |= dict(_ruleset(emulator.netns, folder / chains_file(emulator.link)))
    for node in ruleset.routers(trial.topology):
        netns = node_netns(node.name)
        if netns in made.looked_at:
            found.pop((netns, "rules of nftables"), None)
            if node.router is not None and node.router.nftables is None:  # what it said is for `filter_check`
                found |= dict(_ruleset(netns, folder / rules_file(node.name, "after")))
    return found


def settings_of(facts: Mapping[tuple[str, str], str], netns: str) -> dict[str, str]:
    """The settings of TCP and IP that are files of their own, by name."""
    prefix = f"{TCP_SETTINGS}/"
    names = ((what.removeprefix(prefix), value) for (where, what), value in facts.items()
             if where == netns and what.startswith(prefix))  # fmt: skip
    return {name: value for name, value in names if "/" not in name}


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of what is before and after ": " in each line; nothing if there is no such file."""
    for line in path.read_text().splitlines() if path.exists() else ():
        name, _, value = line.partition(": ")
        yield name, value


def rules(path: Path) -> Iterator[tuple[str, str, int | None]]:
    """The rules that nft prints in JSON: table and chain, the rule as one writes it, and the packets of its counter."""
    for entry in json.loads(path.read_text())["nftables"]:
        if "rule" in entry:
            rule = entry["rule"]
            counts = (each["counter"] for each in rule["expr"] if isinstance(each.get("counter"), dict))
            text = rule_text(" ".join(map(_words, rule["expr"])))
            packets = next((each["packets"] for each in counts), None)
            yield f"{rule['family']} {rule['table']} {rule['chain']}", text, packets


def _ruleset(netns: str, path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """The chains and rules that nft prints in JSON. Rules are numbered within their chains."""
    count: dict[str, int] = {}
    for entry in json.loads(path.read_text())["nftables"]:
        if "chain" in entry:
            chain = entry["chain"]
            name = f"chain {chain['name']} in {chain['family']} {chain['table']}"
            yield (netns, name), f"{chain['hook']}, priority {chain['prio']}" if "hook" in chain else "jumped to"
        if "rule" in entry:
            chain = entry["rule"]["chain"]
            count[chain] = count.get(chain, 0) + 1
            text = " ".join(map(_words, entry["rule"]["expr"]))
            yield (netns, f"rule {count[chain]} of {chain}"), rule_text(text)


def _words(expression: dict[str, Any]) -> str:
    """An expression of a rule, as one writes it."""
    ((kind, said),) = expression.items()
    match kind:
        case "match" if not (isinstance(said["left"], dict) and "ct" in said["left"]):
            comparison = f"{_operand(said['left'])} {said['op']} {_operand(said['right'])}"
            return comparison.replace(" == ", " ")
        case "counter" if isinstance(said, str):
            return f'counter name "{said}"'
        case "counter":
            return "counter"
        case "match" if isinstance(said["left"], dict) and "ct" in said["left"]:
            states = said["right"] if isinstance(said["right"], list) else [said["right"]]
            return f"ct {said['left']['ct']['key']} {','.join(states)}"
        case "snat" | "dnat":
            return f"{kind} to {said['addr']}{':' + str(said['port']) if 'port' in said else ''}"
        case "fwd":
            return f'fwd to "{said["dev"]}"'
        case "jump":
            return f"jump {said['target']}"
        case "quota":
            return f"quota {_over(said)}{said['val'] * UNITS[said['val_unit']]} bytes"
        case "limit" if "burst" in said:
            rate, burst = (said[key] * UNITS.get(said.get(f"{key}_unit"), 1) for key in ("rate", "burst"))
            return f"limit rate {_over(said)}{rate} bytes/{said['per']} burst {burst} bytes"
        case "mangle":
            return f"{_operand(said['key'])} set {_operand(said['value'])}"
    return kind if said is None else json.dumps(expression)


def _over(said: dict[str, Any]) -> str:
    return "over " if said.get("inv") else ""


def _operand(said: Any) -> str:
    match said:
        case {"meta": {"key": key}}:
            return f"meta {key}"
        case {"payload": {"protocol": protocol, "field": field}}:
            return f"{protocol} {field}"
        case {"payload": {"base": base, "offset": offset, "len": length}}:
            return f"@{base},{offset},{length}"
        case {"&": [left, right]}:
            return f"{_operand(left)} & {_operand(right)}"
        case {"^": [left, right]}:
            return f"{_operand(left)} ^ {_operand(right)}"
        case {"numgen": {"mode": mode, "mod": mod, "offset": offset}}:
            return f"numgen {mode} mod {mod}" + (f" offset {offset}" if offset else "")
        case {"range": [low, high]}:
            return f"{low}-{high}"
    return str(said) if isinstance(said, int | str) else json.dumps(said)
