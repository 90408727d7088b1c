"""A firewall: drops what policy.csv denies, and is a learning switch for the rest."""

import csv
from pathlib import Path

from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from ryu.app.simple_switch_13 import SimpleSwitch13

POLICY = Path(__file__).with_name("policy.csv")


class Firewall(SimpleSwitch13):
    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_features_handler(self, event):
        """A switch has connected."""
        super().switch_features_handler(event)
        datapath = event.msg.datapath
        with POLICY.open() as lines:
            for line in csv.DictReader(lines):
                self.deny(datapath, line)

    def deny(self, datapath, line):
        match = {"eth_type": 0x0800, "ipv4_src": line["source"], "ipv4_dst": line["destination"]}
        if line["protocol"] == "tcp":
            match["ip_proto"] = 6
            if line["port"]:
                match["tcp_dst"] = int(line["port"])
        self.add_flow(datapath, 100, datapath.ofproto_parser.OFPMatch(**match), [])
        if "tcp_dst" in match:
            match["ip_proto"], match["udp_dst"] = 17, match.pop("tcp_dst")
            self.add_flow(datapath, 100, datapath.ofproto_parser.OFPMatch(**match), [])
