"""Flows over all spines of a small data centre."""

import csv
from pathlib import Path

from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_3

with Path(__file__).with_name("ports.csv").open() as lines:
    PORTS = [(int(line["leaf"]), int(line["port"]), line["leads-to"]) for line in csv.DictReader(lines)]
LEAVES = {leaf: {port: to for own, port, to in PORTS if own == leaf and to != "spine"} for leaf, _, _ in PORTS}
"""The hosts behind the ports of each leaf, by the number of its datapath; l1 is 1, l2 is 2."""
UPLINKS = {leaf: [port for own, port, to in PORTS if own == leaf and to == "spine"] for leaf in LEAVES}
"""The ports of each leaf to the spines."""


class Ecmp(OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def connected(self, event):
        datapath = event.msg.datapath
        parser = datapath.ofproto_parser
        if datapath.id not in LEAVES:
            for port, hosts in enumerate(LEAVES.values(), 1):
                for host in hosts.values():
                    self.add(datapath, host, [parser.OFPActionOutput(port)])
            return
        for leaf, hosts in LEAVES.items():
            for port, host in hosts.items():
                if leaf == datapath.id:
                    self.add(datapath, host, [parser.OFPActionOutput(port)])
                    continue
                self.add(datapath, host, [parser.OFPActionOutput(UPLINKS[datapath.id][0])])
                match = parser.OFPMatch(eth_type=0x0800, ip_proto=17, ipv4_dst=host)
                apply = [parser.OFPInstructionActions(datapath.ofproto.OFPIT_APPLY_ACTIONS, self.up(datapath))]
                datapath.send_msg(parser.OFPFlowMod(datapath, priority=20, match=match, instructions=apply))

    def up(self, datapath):
        parser, ofproto = datapath.ofproto_parser, datapath.ofproto
        if not getattr(datapath, "has_group", False):
            buckets = [parser.OFPBucket(weight=1, actions=[parser.OFPActionOutput(port)]) for port in UPLINKS[datapath.id]]
            datapath.send_msg(parser.OFPGroupMod(datapath, ofproto.OFPGC_ADD, ofproto.OFPGT_SELECT, 1, buckets))
            datapath.has_group = True
        return [parser.OFPActionGroup(1)]

    def add(self, datapath, host, actions):
        parser, ofproto = datapath.ofproto_parser, datapath.ofproto
        match = parser.OFPMatch(eth_type=0x0800, ipv4_dst=host)
        instructions = [parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, actions)]
        datapath.send_msg(parser.OFPFlowMod(datapath, priority=10, match=match, instructions=instructions))
