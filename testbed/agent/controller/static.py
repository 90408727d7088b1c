"""Static forwarding: the shortest ways, which the plan has worked out, are in the switches before the first packet."""

from __future__ import annotations

from typing import Any

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from os_ken.ofproto import ofproto_v1_3

from .settings import told

FORWARD, TO_ALL = 2, 1


class Static(app_manager.OSKenApp):
    """What is for a host or router goes by its MAC address; what is for all goes along a tree, which has no ring."""

    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_features_handler(self, ev: Any) -> None:
        datapath = ev.msg.datapath
        parser = datapath.ofproto_parser
        table = told()["switches"][str(datapath.id)]
        for mac, port in table["ways"].items():
            self._flow(datapath, FORWARD, parser.OFPMatch(eth_dst=mac), [port])
        for port in table["flood"]:
            match = parser.OFPMatch(in_port=port, eth_dst=("01:00:00:00:00:00", "01:00:00:00:00:00"))
            self._flow(datapath, TO_ALL, match, [other for other in table["flood"] if other != port])

    def _flow(self, datapath: Any, priority: int, match: Any, ports: list[int]) -> None:
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        actions = [parser.OFPActionOutput(port) for port in ports]
        apply = [parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, actions)]
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, priority=priority, match=match, instructions=apply))
