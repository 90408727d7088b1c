"""A learning switch: what comes from a port says who is behind it; what is for somebody unknown goes to all."""

from __future__ import annotations

from typing import Any

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ether_types, ethernet, packet
from os_ken.ofproto import ofproto_v1_3

LEARNED, MISSED = 1, 0
"""Priorities of what was learned, and of what sends the rest here."""


class LearningSwitch(app_manager.OSKenApp):
    """By MAC address. What it learns stays until the switch is gone.

    Its methods have the names of those of Ryu's SimpleSwitch13, which other apps are built on.
    """

    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)
    TABLE = 0
    """The table in which it keeps what it learns."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.mac_to_port: dict[int, dict[str, int]] = {}

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_features_handler(self, ev: Any) -> None:
        self.begin(ev.msg.datapath)

    def begin(self, datapath: Any) -> None:
        """Everything comes here, whole."""
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        self.mac_to_port.pop(datapath.id, None)
        to_us = [parser.OFPActionOutput(ofproto.OFPP_CONTROLLER, ofproto.OFPCML_NO_BUFFER)]
        self.add_flow(datapath, MISSED, parser.OFPMatch(), to_us)

    def add_flow(
        self, datapath: Any, priority: int, match: Any, actions: list[Any], buffer_id: int | None = None
    ) -> None:
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        apply = [parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, actions)]
        datapath.send_msg(
            parser.OFPFlowMod(
                datapath=datapath,
                table_id=self.TABLE,
                priority=priority,
                match=match,
                instructions=apply,
                buffer_id=ofproto.OFP_NO_BUFFER if buffer_id is None else buffer_id,
            )
        )

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def _packet_in_handler(self, ev: Any) -> None:
        msg = ev.msg
        datapath, in_port = msg.datapath, msg.match["in_port"]
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        eth = packet.Packet(msg.data).get_protocol(ethernet.ethernet)
        if eth.ethertype == ether_types.ETH_TYPE_LLDP:
            return
        known = self.mac_to_port.setdefault(datapath.id, {})
        known[eth.src] = in_port
        out_port = known.get(eth.dst, ofproto.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out_port)]
        if out_port != ofproto.OFPP_FLOOD:
            match = parser.OFPMatch(in_port=in_port, eth_dst=eth.dst, eth_src=eth.src)
            self.add_flow(datapath, LEARNED, match, actions)
        # The buffer of Open vSwitch is never used: the packet came whole and goes back whole.
        datapath.send_msg(
            parser.OFPPacketOut(
                datapath=datapath, buffer_id=ofproto.OFP_NO_BUFFER, in_port=in_port, actions=actions, data=msg.data
            )
        )


SimpleSwitch13 = LearningSwitch
