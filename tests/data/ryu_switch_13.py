"""A switch that learns, as one writes it with Ryu: its imports, its names, its handlers."""

from ryu.base import app_manager
from ryu.controller import ofp_event
from ryu.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from ryu.lib import hub, mac
from ryu.lib.packet import ether_types, ethernet, packet
from ryu.ofproto import ofproto_v1_3
from ryu.topology import event as topology_event


class TutorialSwitch(app_manager.RyuApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super(TutorialSwitch, self).__init__(*args, **kwargs)
        self.tables = {}
        self.beats = hub.spawn(self.beat)

    def beat(self):
        while True:
            hub.sleep(1)
            self.logger.debug("%d switches", len(self.tables))

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def greet(self, ev):
        dp = ev.msg.datapath
        ofp, parser = dp.ofproto, dp.ofproto_parser
        self.tables[dp.id] = {}
        send_up = [parser.OFPActionOutput(ofp.OFPP_CONTROLLER, ofp.OFPCML_NO_BUFFER)]
        self.install(dp, 0, parser.OFPMatch(), send_up)

    def install(self, dp, priority, match, actions):
        parser = dp.ofproto_parser
        apply = [parser.OFPInstructionActions(dp.ofproto.OFPIT_APPLY_ACTIONS, actions)]
        dp.send_msg(parser.OFPFlowMod(datapath=dp, priority=priority, match=match, instructions=apply))

    @set_ev_cls(topology_event.EventSwitchEnter)
    def seen(self, ev):
        self.logger.debug("switch %s", ev.switch)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def learn(self, ev):
        msg = ev.msg
        dp, port = msg.datapath, msg.match["in_port"]
        ofp, parser = dp.ofproto, dp.ofproto_parser
        frame = packet.Packet(msg.data).get_protocols(ethernet.ethernet)[0]
        if frame.ethertype == ether_types.ETH_TYPE_LLDP or mac.is_multicast(mac.haddr_to_bin(frame.src)):
            return
        table = self.tables[dp.id]
        table[frame.src] = port
        out = table.get(frame.dst, ofp.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out)]
        if out != ofp.OFPP_FLOOD:
            self.install(dp, 1, parser.OFPMatch(in_port=port, eth_dst=frame.dst), actions)
        dp.send_msg(
            parser.OFPPacketOut(datapath=dp, buffer_id=ofp.OFP_NO_BUFFER, in_port=port, actions=actions, data=msg.data)
        )
