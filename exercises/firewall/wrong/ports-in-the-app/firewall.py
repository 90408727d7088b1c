"""A firewall: drops what policy.csv denies, and is a learning switch for the rest."""

import csv
from pathlib import Path

from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ipv4, packet, tcp
from ryu.app.simple_switch_13 import SimpleSwitch13

POLICY = Path(__file__).with_name("policy.csv")


class Firewall(SimpleSwitch13):
    ports = set()  # source, destination and port of each line with a port

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
                self.ports.add((line["source"], line["destination"], int(line["port"])))
                parser, ofproto = datapath.ofproto_parser, datapath.ofproto
                to_us = [parser.OFPActionOutput(ofproto.OFPP_CONTROLLER, ofproto.OFPCML_NO_BUFFER)]
                self.add_flow(datapath, 100, parser.OFPMatch(**match), to_us)
                return
        self.add_flow(datapath, 100, datapath.ofproto_parser.OFPMatch(**match), [])

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def _packet_in_handler(self, event):
        frame = packet.Packet(event.msg.data)
        header, segment = frame.get_protocol(ipv4.ipv4), frame.get_protocol(tcp.tcp)
        if header and segment and (header.src, header.dst, segment.dst_port) in self.ports:
            return
        super()._packet_in_handler(event)
