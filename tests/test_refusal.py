"""What switches refuse, in words: messages of os-ken, as an app makes them, and what Open vSwitch answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_S

CASE = """
import json, sys
from os_ken.base import app_manager
from os_ken.controller import controller
from os_ken.ofproto import ofproto_v1_3, ofproto_v1_3_parser
from testbed.agent.controller import refusal

class Datapath:
    id = 7
    def __init__(self):
        self.ofproto, self.ofproto_parser = ofproto_v1_3, ofproto_v1_3_parser
    def send_msg(self, msg):
        msg.set_xid(len(SENT.messages) + 1)
        return True

SENT = refusal.Sent()
SENT.watch(Datapath)

def say(make, type, code):
    datapath = Datapath()
    of, parser = datapath.ofproto, datapath.ofproto_parser
    msg = make(datapath, of, parser)
    assert datapath.send_msg(msg)
    error = parser.OFPErrorMsg(datapath, type, code, b"")
    error.set_xid(msg.xid)
    print(json.dumps(refusal.told(error, SENT.of(7, error.xid), "s1")))

def flow(match, *actions, **more):
    def make(datapath, of, parser):
        out = [parser.OFPActionOutput(port) for port in more.get("out", ())]
        rewritten = [parser.OFPActionSetField(**each) for each in actions]
        apply = [parser.OFPInstructionActions(of.OFPIT_APPLY_ACTIONS, [*rewritten, *out])]
        return parser.OFPFlowMod(datapath=datapath, match=parser.OFPMatch(**match), instructions=apply)
    return make

"""


def said(*calls: str) -> list[str]:
    """Each call of `say` in a process of its own, as a controller is."""
    text = CASE + "\n".join(calls)
    root = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)])}
    words = [sys.executable, "-c", text]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


CASES: list[tuple[str, str]] = [
    (  # OpenFlow 1.3.5, 7.2.3.8: IPV4_SRC needs ETH_TYPE=0x0800
        "say(flow({'ipv4_src': '10.0.0.1'}, out=[2]), 4, 9)",
        "s1 refused a flow entry (ipv4_src=10.0.0.1 → output:2): "
        "ipv4_src needs eth_type=0x0800 in the match (OFPBMC_BAD_PREREQ)",
    ),
    (
        "say(flow({'ip_proto': 6, 'ipv4_src': '10.0.0.1', 'ipv4_dst': '10.0.0.2'}), 4, 9)",
        "s1 refused a flow entry (ip_proto=6, ipv4_dst=10.0.0.2, ipv4_src=10.0.0.1 → drop): "
        "ip_proto, ipv4_dst and ipv4_src need eth_type=0x0800 in the match (OFPBMC_BAD_PREREQ)",
    ),
    (
        "say(flow({'eth_type': 0x0800, 'tcp_dst': 22}), 4, 9)",
        "s1 refused a flow entry (eth_type=0x0800, tcp_dst=22 → drop): "
        "tcp_dst needs ip_proto=6 in the match (OFPBMC_BAD_PREREQ)",
    ),
    (
        "say(flow({'udp_dst': 53}), 4, 9)",
        "s1 refused a flow entry (udp_dst=53 → drop): "
        "udp_dst needs eth_type=0x0800 or eth_type=0x86dd and ip_proto=17 in the match (OFPBMC_BAD_PREREQ)",
    ),
    (
        "say(flow({'in_port': 1}, {'ipv4_dst': '10.0.0.9'}, out=[2]), 2, 10)",
        "s1 refused a flow entry (in_port=1 → set_field ipv4_dst=10.0.0.9, output:2): "
        "ipv4_dst needs eth_type=0x0800 in the match (OFPBAC_MATCH_INCONSISTENT)",
    ),
    (
        "say(flow({'in_port': 1}, out=[0]), 2, 4)",
        "s1 refused a flow entry (in_port=1 → output:0): "
        "it sends packets to a port that the switch has not got (OFPBAC_BAD_OUT_PORT)",
    ),
    (
        "say(lambda d, of, p: p.OFPGroupMod(d, of.OFPGC_ADD, of.OFPGT_SELECT, 5, []), 6, 0)",
        "s1 refused a group 5: the switch has a group of this number: modify it, or delete it first "
        "(OFPGMFC_GROUP_EXISTS)",
    ),
    ("say(flow({}), 99, 3)", "s1 refused a flow entry (any packet → drop): type 99 code 3"),
    (
        "say(lambda d, of, p: p.OFPPacketOut(d, buffer_id=9, in_port=1, actions=[p.OFPActionOutput(2)]), 1, 8)",
        "s1 refused a packet-out: the switch no longer has the packet of its buffer_id (OFPBRC_BUFFER_UNKNOWN)",
    ),
]


def test_a_refusal_says_what_was_refused_and_what_it_lacks() -> None:
    assert said(*(call for call, _ in CASES)) == [text for _, text in CASES]


def test_a_message_that_nobody_remembers_is_named_by_its_error() -> None:
    call = """
error = ofproto_v1_3_parser.OFPErrorMsg(Datapath(), 4, 9, b"")
error.set_xid(12345)
print(json.dumps(refusal.told(error, SENT.of(7, 12345), "s1")))
"""
    assert said(call) == ["s1 refused a message: a field of its match needs another field (OFPBMC_BAD_PREREQ)"]


def test_only_the_last_messages_are_remembered() -> None:
    call = """
class Msg: pass
for number in range(refusal.KEPT + 10):
    msg = Msg()
    msg.xid = number
    SENT.note(7, msg)
print(json.dumps([len(SENT.messages) == refusal.KEPT, SENT.of(7, 9) is None, SENT.of(7, 10) is not None]))
"""
    (found,) = said(call)
    answers: Any = found
    assert answers == [True, True, True]


APP = """
from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_3


class Firewall(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def features(self, ev):
        datapath = ev.msg.datapath
        of, parser = datapath.ofproto, datapath.ofproto_parser
        flood = [parser.OFPInstructionActions(of.OFPIT_APPLY_ACTIONS, [parser.OFPActionOutput(of.OFPP_FLOOD)])]
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, priority=0, match=parser.OFPMatch(), instructions=flood))
        match = parser.OFPMatch(ipv4_src="10.0.0.1", ipv4_dst="10.0.0.2")
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, priority=9, match=match, instructions=[]))
        match = parser.OFPMatch(eth_type=0x0800, ipv4_dst="10.0.0.3")
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, priority=9, match=match, instructions=[]))
"""
REFUSED = (
    "s1 refused a flow entry (ipv4_dst=10.0.0.2, ipv4_src=10.0.0.1 → drop): "
    "ipv4_dst and ipv4_src need eth_type=0x0800 in the match (OFPBMC_BAD_PREREQ)"
)
EXERCISE = """title: A firewall
goal: What is denied does not pass.
time: 20 min
topology: net.yaml
files: {app.py: {}}
expect:
  - {name: reaches, reach: {from: [a], to: [b, c]}, message: They must reach one another.}
  - {name: denied, needs: [works], no-reach: {from: [a], to: [b]}, message: a must not reach b.}
  - {name: entry, flow: {switch: s1, match: {ipv4_dst: "{b.ip}"}}, message: There is no entry.}
""".replace("  - {name: denied", "  - {name: works, reach: {from: [b], to: [d]}, message: It must.}\n  - {name: denied")
TOPOLOGY = """name: net
nodes:
  a: {type: host}
  b: {type: host}
  c: {type: host}
  d: {type: host}
  s1: {type: ovs}
  s2: {type: ovs}
  c0: {type: controller, app: app.py}
links:
  one: {ends: [a, s1]}
  two: {ends: [b, s1]}
  trunk: {ends: [s1, s2]}
  three: {ends: [c, s2]}
  four: {ends: [d, s2]}
"""


def written(folder: Path) -> Path:
    for name in ("solution", "starter"):
        (folder / name).mkdir(parents=True)
        (folder / name / "app.py").write_text(APP)
    (folder / "net.yaml").write_text(TOPOLOGY)
    (folder / "exercise.yaml").write_text(EXERCISE)
    return folder


@pytest.mark.lab
def test_check_shows_at_a_failing_rule_what_was_refused_and_where_the_packet_ended(tmp_path: Path) -> None:
    """The pings are real; the switch's own tracer and its table say why they failed."""
    from testbed.exercise import check, file, submission

    exercise = file.load(written(tmp_path / "mine"))
    first, again = (check.mark(exercise, submission.of_solution(exercise)) for _ in range(2))
    assert first.data() == again.data()
    rules = {rule.name: rule for rule in first.rules}
    assert [(name, rule.outcome) for name, rule in rules.items()] == [
        ("reaches", "failed"), ("works", "passed"), ("denied", "failed"), ("entry", "failed"),
    ]  # fmt: skip
    assert rules["works"].shown == ()
    assert rules["reaches"].seen == "a → c: 0 of 3 pings answered"
    assert rules["reaches"].shown[:2] == ("what switches refused:", f"  {REFUSED}")
    shown = "\n".join(rules["reaches"].shown)
    assert "where a packet from a to c (10.0.0.3) comes" in shown
    assert "the ping does not arrive; it ends at s1:" in shown
    assert "s1 (from a): table 0: ip,nw_dst=10.0.0.3 (c), priority 9: drops it" in shown
    assert "priority 9: ip,nw_dst=10.0.0.3 (c) → drop (3 packets)" in shown
    assert "  the ping arrives; its way: a, s1, b" in rules["denied"].shown
    assert "  the answer arrives; its way: b, s1, a" in rules["denied"].shown
    assert "flow table of s1: as at reaches" in rules["denied"].shown
    assert rules["entry"].shown == ("what switches refused: as at reaches", "flow table of s1: as at reaches")


@pytest.mark.lab
def test_an_app_that_does_not_start_is_told_once_and_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from testbed.commands.teach.exercise import tell
    from testbed.exercise import check, file, submission

    folder = written(tmp_path / "mine")
    (folder / "solution" / "app.py").write_text(f"import json, nonexisting\n{APP}")
    exercise = file.load(folder)
    tell(check.mark(exercise, submission.of_solution(exercise)))
    said = capsys.readouterr().out
    assert "no rule could be checked: c0: the app does not start: app.py, line 1: ModuleNotFoundError: " in said
    assert said.count("Traceback") == 1
    assert said.count("No module named 'nonexisting'") == 3  # why, what c0 said first, and the end of its traceback
    assert "Alarm clock" not in said
    assert "importlib" not in said.partition("Traceback")[2].partition("app.py")[0]
