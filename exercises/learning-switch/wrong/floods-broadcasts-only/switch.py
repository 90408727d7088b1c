"""A learning switch. It learns from the source of each frame."""

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class Switch(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.ports = {}  # for each switch: the port behind which an address is

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def connected(self, event):
        """A switch has connected: what it has no entry for comes to us."""
        datapath = event.msg.datapath
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        to_us = [parser.OFPActionOutput(ofproto.OFPP_CONTROLLER, ofproto.OFPCML_NO_BUFFER)]
        self.add_entry(datapath, 0, parser.OFPMatch(), to_us)

    def add_entry(self, datapath, priority, match, actions):
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        apply = [parser.OFPInstructionActions(ofproto.OFPIT_APPLY_ACTIONS, actions)]
        datapath.send_msg(parser.OFPFlowMod(datapath=datapath, priority=priority, match=match, instructions=apply))

    def send(self, datapath, in_port, out_port, data):
        """Sends a frame that came from a port out of another."""
        ofproto, parser = datapath.ofproto, datapath.ofproto_parser
        datapath.send_msg(
            parser.OFPPacketOut(
                datapath=datapath,
                buffer_id=ofproto.OFP_NO_BUFFER,
                in_port=in_port,
                actions=[parser.OFPActionOutput(out_port)],
                data=data,
            )
        )

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def frame_came(self, event):
        message = event.msg
        datapath, in_port = message.datapath, message.match["in_port"]
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        known = self.ports.setdefault(datapath.id, {})
        known[frame.src] = in_port
        out_port = known.get(frame.dst)
        if out_port is None and frame.dst != "ff:ff:ff:ff:ff:ff":
            return
        if out_port is None:
            self.send(datapath, in_port, datapath.ofproto.OFPP_FLOOD, message.data)
            return
        parser = datapath.ofproto_parser
        match = parser.OFPMatch(in_port=in_port, eth_src=frame.src, eth_dst=frame.dst)
        self.add_entry(datapath, 1, match, [parser.OFPActionOutput(out_port)])
        self.send(datapath, in_port, out_port, message.data)
