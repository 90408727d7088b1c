"""Rules and chains as `nft --json list ruleset` prints them. Reads a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...plan.command import rule_text

RULESET = ("nft", "--json", "list", "ruleset")

UNITS = {"bytes": 1, "kbytes": 1024, "mbytes": 1024**2}


def rules(path: Path) -> Iterator[tuple[str, str, int | None]]:
    """The rules that nft prints in JSON: table and chain, the rule as one writes it, and the packets of its counter."""
    for entry in json.loads(path.read_text())["nftables"]:
        if "rule" in entry:
            rule = entry["rule"]
            counts = (each["counter"] for each in rule["expr"] if isinstance(each.get("counter"), dict))
            text = rule_text(" ".join(map(_words, rule["expr"])))
            packets = next((each["packets"] for each in counts), None)
            yield f"{rule['family']} {rule['table']} {rule['chain']}", text, packets


def ruleset_facts(netns: str, path: Path) -> Iterator[tuple[tuple[str, str], str]]:
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
