"""The recorder: an app that runs beside the user's and writes down what happens between the switches and it.

Writes `events.jsonl` (a line for each connection, error and exception, with CLOCK_MONOTONIC) and `packet-ins` (a line
for each switch with how many packets it has sent here) into the controller's folder. Both are whole at any moment,
for a controller may be killed.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
import traceback
from typing import Any

from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.controller import Datapath
from os_ken.controller.handler import CONFIG_DISPATCHER, DEAD_DISPATCHER, MAIN_DISPATCHER, set_ev_cls

from . import refusal
from .settings import folder, told

LOG = logging.getLogger("testbed")
SENT = refusal.Sent()
"""What all apps of this process have sent."""

EVENTS, PACKET_INS = "events.jsonl", "packet-ins"
LINE = "{:20d} {:12d}\n"


class Events(logging.Handler):
    """Writes events; those that are logged as errors, with their traceback, are events too."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.file = open(folder() / EVENTS, "a")  # noqa: SIM115 - open as long as the process lives

    def write(self, kind: str, **about: Any) -> None:
        self.file.write(json.dumps({"time_ns": time.monotonic_ns(), "kind": kind, **about}) + "\n")
        self.file.flush()

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            said = f"{said}\n{''.join(traceback.format_exception(record.exc_info[1]))}"
        self.write("exception" if "Traceback (most recent call last)" in said else "error", text=said)

    def thread_failed(self, failed: threading.ExceptHookArgs) -> None:
        if failed.exc_value is not None:
            self.write("exception", text="".join(traceback.format_exception(failed.exc_value)))


def events() -> Events:
    """The one that was installed."""
    return next(each for each in logging.getLogger().handlers if isinstance(each, Events))


def install() -> Events:
    made = Events()
    logging.getLogger().addHandler(made)
    SENT.watch(Datapath)
    threading.excepthook = made.thread_failed
    return made


class Recorder(app_manager.OSKenApp):
    """Beside the user's app."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.counts: dict[int, int] = {}
        self.file = os.open(folder() / PACKET_INS, os.O_WRONLY | os.O_CREAT, 0o644)
        self.names: dict[str, str] = told()["names"]

    @set_ev_cls(ofp_event.EventOFPStateChange, [MAIN_DISPATCHER, DEAD_DISPATCHER])
    def state_changed(self, ev: Any) -> None:
        if ev.datapath.id is not None:
            kind = "connected" if ev.state == MAIN_DISPATCHER else "gone"
            events().write(kind, dpid=ev.datapath.id, version=ev.datapath.ofproto.OFP_VERSION)

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def packet_came(self, ev: Any) -> None:
        dpid = ev.msg.datapath.id
        self.counts[dpid] = self.counts.get(dpid, 0) + 1
        line = LINE.format(dpid, self.counts[dpid]).encode()
        os.pwrite(self.file, line, [*self.counts].index(dpid) * len(line))

    @set_ev_cls(ofp_event.EventOFPErrorMsg, [CONFIG_DISPATCHER, MAIN_DISPATCHER])
    def refused(self, ev: Any) -> None:
        msg, dpid = ev.msg, ev.msg.datapath.id
        switch = self.names.get(str(dpid), f"the switch {dpid}")
        text = refusal.told(msg, SENT.of(dpid, msg.xid), switch)
        events().write("refused", dpid=dpid, type=msg.type, code=msg.code, text=text)
        LOG.warning("%s", text)
