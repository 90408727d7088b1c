"""A firewall: rules by address, protocol and port in the first table; what they let pass, a learning switch
forwards.
"""

from __future__ import annotations

from typing import Any

from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, set_ev_cls

from .learning_switch import LearningSwitch
from .settings import told

RULES_FIRST = 40_000
"""The priority of the first rule; each that follows has one less."""


class Firewall(LearningSwitch):
    """The first rule that fits holds. What no rule speaks of passes."""

    TABLE = 1

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def switch_features_handler(self, ev: Any) -> None:
        datapath = ev.msg.datapath
        self.begin(datapath)
        parser = datapath.ofproto_parser
        pass_on = [parser.OFPInstructionGotoTable(self.TABLE)]
        for number, rule in enumerate(told()["rules"]):
            for match in rule["matches"]:
                self._rule(datapath, RULES_FIRST - number, match, pass_on if rule["action"] == "allow" else [])
        self._rule(datapath, 0, {}, pass_on)

    def _rule(self, datapath: Any, priority: int, match: dict[str, Any], instructions: list[Any]) -> None:
        parser = datapath.ofproto_parser
        datapath.send_msg(
            parser.OFPFlowMod(
                datapath=datapath,
                table_id=0,
                priority=priority,
                match=parser.OFPMatch(**match),
                instructions=instructions,
            )
        )
