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
        # TODO: for each line of POLICY an entry that drops what it denies. "any" is every protocol; a line is for one
        # direction. self.add_flow(datapath, priority, match, actions) puts an entry into the table; the entries of the
        # learning switch have the priority 1.
