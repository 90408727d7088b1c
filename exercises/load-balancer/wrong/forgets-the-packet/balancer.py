"""A load balancer: connections to 10.0.0.100 go to two servers in turn. All else is switched as before."""

import csv
from pathlib import Path

from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import arp, ethernet, ipv4, packet, tcp
from ryu.app.simple_switch_13 import SimpleSwitch13

VIRTUAL = ("10.0.0.100", "00:00:00:00:01:00")
with Path(__file__).with_name("servers.csv").open() as lines:
    SERVERS = [(line["address"], line["mac"], int(line["port"])) for line in csv.DictReader(lines)]


class Balancer(SimpleSwitch13):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.chosen = {}  # the server of each connection

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def _packet_in_handler(self, event):
        message = event.msg
        frame = packet.Packet(message.data)
        question, header, segment = (frame.get_protocol(kind) for kind in (arp.arp, ipv4.ipv4, tcp.tcp))
        if question and question.dst_ip == VIRTUAL[0]:
            self.answer(message, question)
        elif header and segment and header.dst == VIRTUAL[0]:
            self.balance(message, header, segment, frame.get_protocol(ethernet.ethernet))
        else:
            super()._packet_in_handler(event)

    def answer(self, message, question):
        """Says that 10.0.0.100 is at VIRTUAL[1]."""
        reply = packet.Packet()
        reply.add_protocol(ethernet.ethernet(question.src_mac, VIRTUAL[1], 0x0806))
        reply.add_protocol(
            arp.arp(opcode=arp.ARP_REPLY, src_mac=VIRTUAL[1], src_ip=VIRTUAL[0], dst_mac=question.src_mac, dst_ip=question.src_ip)
        )
        reply.serialize()
        parser = message.datapath.ofproto_parser
        self.send(message.datapath, [parser.OFPActionOutput(message.match["in_port"])], reply.data)

    def send(self, datapath, actions, data):
        """Sends a frame from here."""
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        datapath.send_msg(
            parser.OFPPacketOut(
                datapath=datapath, buffer_id=ofproto.OFP_NO_BUFFER, in_port=ofproto.OFPP_CONTROLLER, actions=actions, data=data
            )
        )

    def balance(self, message, header, segment, frame):
        """A packet of a new connection: chooses its server, and tells the switch."""
        datapath, parser = message.datapath, message.datapath.ofproto_parser
        connection = (header.src, segment.src_port)
        server = self.chosen.setdefault(connection, SERVERS[len(self.chosen) % len(SERVERS)])
        address, mac, port = server
        tcp_to = {"eth_type": 0x0800, "ip_proto": 6, "ipv4_src": header.src, "ipv4_dst": VIRTUAL[0], "tcp_src": segment.src_port}
        there = [
            parser.OFPActionSetField(eth_dst=mac),
            parser.OFPActionSetField(ipv4_dst=address),
            parser.OFPActionOutput(port),
        ]
        self.add_flow(datapath, 100, parser.OFPMatch(**tcp_to), there)
        tcp_back = {"eth_type": 0x0800, "ip_proto": 6, "ipv4_src": address, "ipv4_dst": header.src, "tcp_dst": segment.src_port}
        back = [
            parser.OFPActionSetField(eth_src=VIRTUAL[1]),
            parser.OFPActionSetField(ipv4_src=VIRTUAL[0]),
            parser.OFPActionOutput(message.match["in_port"]),
        ]
        self.add_flow(datapath, 100, parser.OFPMatch(**tcp_back), back)
