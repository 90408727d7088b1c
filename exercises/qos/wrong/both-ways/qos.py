"""Classes of service: table 0 says what a packet may take, table 1 is a learning switch."""

import csv
from pathlib import Path

from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from ryu.app.simple_switch_13 import SimpleSwitch13

CLASSES = Path(__file__).with_name("classes.csv")


class QoS(SimpleSwitch13):
    TABLE = 1  # in which the learning switch keeps its entries

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_features_handler(self, event):
        """A switch has connected."""
        super().switch_features_handler(event)
        datapath = event.msg.datapath
        self.classify(datapath, 0, datapath.ofproto_parser.OFPMatch(), [])
        with CLASSES.open() as lines:
            for number, line in enumerate(csv.DictReader(lines), 1):
                self.serve(datapath, number, line)

    def serve(self, datapath, number, line):
        """What a line of the table asks for."""
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        match = {"eth_type": 0x0800, "ipv4_src": line["source"]}
        if line["dscp"]:
            match["ip_dscp"] = int(line["dscp"])
        instructions = []
        if line["kbps"]:
            band = parser.OFPMeterBandDrop(rate=int(line["kbps"]))
            datapath.send_msg(parser.OFPMeterMod(datapath, ofproto.OFPMC_ADD, ofproto.OFPMF_KBPS, number, [band]))
            instructions.append(parser.OFPInstructionMeter(number))
            band = parser.OFPMeterBandDrop(rate=8)
            datapath.send_msg(parser.OFPMeterMod(datapath, ofproto.OFPMC_ADD, ofproto.OFPMF_KBPS, number + 50, [band]))
            to_it = parser.OFPMatch(eth_type=0x0800, ipv4_dst=line["source"])
            self.classify(datapath, 10, to_it, [parser.OFPInstructionMeter(number + 50)])
        if line["queue"]:
            queue = [parser.OFPActionSetQueue(int(line["queue"]))]
            instructions.append(parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, queue))
        self.classify(datapath, 10, parser.OFPMatch(**match), instructions)

    def classify(self, datapath, priority, match, instructions):
        """An entry of table 0, after which table 1 decides about the port."""
        parser = datapath.ofproto_parser
        onward = parser.OFPInstructionGotoTable(self.TABLE)
        datapath.send_msg(
            parser.OFPFlowMod(
                datapath=datapath, table_id=0, priority=priority, match=match, instructions=[*instructions, onward]
            )
        )
