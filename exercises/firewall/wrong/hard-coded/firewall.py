"""A firewall with the lines of the table written into it."""

from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls
from ryu.app.simple_switch_13 import SimpleSwitch13

DENIED = (
    ("10.0.0.4", "10.0.0.2", None),
    ("10.0.0.2", "10.0.0.4", None),
    ("10.0.0.3", "10.0.0.2", 22),
    ("10.0.0.1", "10.0.0.3", None),
    ("10.0.0.4", "10.0.0.1", 8080),
)


class Firewall(SimpleSwitch13):
    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_features_handler(self, event):
        super().switch_features_handler(event)
        datapath = event.msg.datapath
        for source, destination, port in DENIED:
            match = {"eth_type": 0x0800, "ipv4_src": source, "ipv4_dst": destination}
            if port is not None:
                match |= {"ip_proto": 6, "tcp_dst": port}
            self.add_flow(datapath, 100, datapath.ofproto_parser.OFPMatch(**match), [])
