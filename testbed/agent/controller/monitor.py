"""A monitor: a learning switch that asks every switch for the statistics of its ports and flows, again and again.

Writes a line of `monitor.jsonl` in the controller's folder for each answer, with CLOCK_MONOTONIC.
"""

from __future__ import annotations

import json
import time
from typing import Any

from os_ken.controller import ofp_event
from os_ken.controller.handler import DEAD_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib import hub

from .learning_switch import LearningSwitch
from .settings import folder, told

MONITOR = "monitor.jsonl"
PORT_KEYS = ("rx_packets", "rx_bytes", "rx_dropped", "rx_errors", "tx_packets", "tx_bytes", "tx_dropped", "tx_errors")


class Monitor(LearningSwitch):
    """Asks at the same instants, which are multiples of the interval after its start."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.datapaths: dict[int, Any] = {}
        self.interval_s: float = told()["interval_s"]
        self.file = open(folder() / MONITOR, "a")  # noqa: SIM115 - open as long as the process lives
        self.thread = hub.spawn(self._ask)

    @set_ev_cls(ofp_event.EventOFPStateChange, [MAIN_DISPATCHER, DEAD_DISPATCHER])
    def _state_changed(self, ev: Any) -> None:
        if ev.state == MAIN_DISPATCHER:
            self.datapaths[ev.datapath.id] = ev.datapath
        else:
            self.datapaths.pop(ev.datapath.id, None)

    def _ask(self) -> None:
        next_s = time.monotonic()
        while True:
            for _, datapath in sorted(self.datapaths.items()):
                ofproto, parser = datapath.ofproto, datapath.ofproto_parser
                datapath.send_msg(parser.OFPPortStatsRequest(datapath, 0, ofproto.OFPP_ANY))
                datapath.send_msg(parser.OFPFlowStatsRequest(datapath))
            next_s += self.interval_s
            hub.sleep(max(0.0, next_s - time.monotonic()))

    @set_ev_cls(ofp_event.EventOFPPortStatsReply, MAIN_DISPATCHER)
    def _port_stats(self, ev: Any) -> None:
        local = ev.msg.datapath.ofproto.OFPP_LOCAL
        ports = [
            {"port": each.port_no, **{key: getattr(each, key) for key in PORT_KEYS}}
            for each in ev.msg.body
            if each.port_no != local
        ]
        self._write(ev, ports=sorted(ports, key=lambda each: each["port"]))

    @set_ev_cls(ofp_event.EventOFPFlowStatsReply, MAIN_DISPATCHER)
    def _flow_stats(self, ev: Any) -> None:
        flows = [
            {
                "priority": each.priority,
                "match": {key: value for key, value in each.match.items()},
                "packets": each.packet_count,
                "bytes": each.byte_count,
            }
            for each in ev.msg.body
        ]
        self._write(ev, flows=sorted(flows, key=lambda each: json.dumps(each, sort_keys=True)))

    def _write(self, ev: Any, **about: Any) -> None:
        line = {"time_ns": time.monotonic_ns(), "dpid": ev.msg.datapath.id, **about}
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
