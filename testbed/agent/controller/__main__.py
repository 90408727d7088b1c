"""Starts a controller: `python -m testbed.agent.controller FOLDER`, with what it is told in FOLDER/told.json.

Writes FOLDER/pid. TESTBED_LOG_LEVEL says what it logs, WARNING if left out; with TESTBED_LOG_TIME each line of what it
prints and logs has the time.
The app is one of ours or a file in FOLDER, for os-ken or for Ryu.
"""

from __future__ import annotations

import ast
import datetime
import importlib.util
import io
import logging
import os
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import TextIO

from .settings import folder, told

FILE_APP = "controller_app"
"""The name under which an app's file is imported: its own could be that of something else."""

OTHERS = ("/site-packages", "/dist-packages")

NEED_GREEN = {"stplib", "igmplib"}
"""Parts of os-ken's library that end a task from outside, or wait with a hub.Timeout."""


def main() -> None:
    leave_out_others()
    choose_tasks()
    from . import recorder

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    (folder() / "pid").write_text(f"{os.getpid()}\n")
    if "TESTBED_LOG_TIME" in os.environ:
        sys.stdout, sys.stderr = TimedText(sys.stdout), TimedText(sys.stderr)
    level = os.environ.get("TESTBED_LOG_LEVEL", "WARNING")
    logging.basicConfig(level=level, stream=sys.stderr, format="%(name)s: %(message)s")
    logging.getLogger("os_ken").setLevel(logging.WARNING)
    events = recorder.install()
    try:
        start()
    except Exception as error:
        text = told_shortly(error)
        events.write("exception", text=text)
        sys.exit(text)


def told_shortly(error: BaseException) -> str:
    """What went wrong, and where in the app, in a line; then the traceback, from the app's file on if that is in it."""
    home, frames = str(folder()), traceback.extract_tb(error.__traceback__)
    own = next((at for at, frame in enumerate(frames) if frame.filename.startswith(home)), None)
    last = next((frame for frame in reversed(frames) if frame.filename.startswith(home)), None)
    place = "" if last is None else f"{os.path.basename(last.filename)}, line {last.lineno}: "
    first = f"the app does not start: {place}{''.join(traceback.format_exception_only(error)).strip().splitlines()[-1]}"
    lines = traceback.format_list(frames[own or 0 :]) + traceback.format_exception_only(error)
    return "".join((first, "\nTraceback (most recent call last):\n", *lines))


class TimedText(io.TextIOBase):
    """A stream that begins each line with the time of day, for people who read along."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.begins = True

    def write(self, text: str) -> int:
        for line in text.splitlines(keepends=True):
            now = datetime.datetime.now().strftime("%H:%M:%S.%f")[:-3]
            self.stream.write(f"{now} {line}" if self.begins else line)
            self.begins = line.endswith(("\n", "\r"))
        self.stream.flush()
        return len(text)

    def fileno(self) -> int:
        return self.stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.stream.encoding


def leave_out_others() -> None:
    """From here on Python finds its own library and what PYTHONPATH names, and no packages of the system's: one of
    those beside ours of another age may break an import.
    """
    ours = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [each for each in sys.path if each in ours or not each.endswith(OTHERS)]


def choose_tasks() -> None:
    """Before anything of os-ken is imported, the green threads of eventlet, on which Ryu runs, for an app that needs
    them: with native threads a hub.Timeout never ends a wait, and hub.kill ends no task.
    """
    about = told()
    try:
        if about["is_ours"] or not NEED_GREEN & imported(folder() / about["app"]):
            return
    except (SyntaxError, ValueError):
        return  # which is said when it is loaded
    os.environ |= {"OSKEN_HUB_TYPE": "eventlet", "EVENTLET_NO_GREENDNS": "yes"}
    with warnings.catch_warnings(action="ignore"):  # eventlet warns that it is old
        from os_ken.lib import hub
    hub.patch()


def start() -> None:
    from . import recorder, ryu_alias

    about = told()
    ryu_alias.install()
    app = (
        f"testbed.agent.controller.{about['app'].replace('-', '_')}"
        if about["is_ours"]
        else load(folder() / about["app"])
    )
    from os_ken import cfg
    from os_ken.base.app_manager import AppManager
    from os_ken.controller import controller  # noqa: F401 - its options

    cfg.CONF(args=[], project="os_ken")
    host, port = about["listen"]
    cfg.CONF.set_override("ofp_listen_host", host)
    cfg.CONF.set_override("ofp_tcp_listen_port", port)
    if about["waits"]:
        signal.sigwait({signal.SIGUSR1})
        recorder.events().write("started")
    AppManager.run_apps(["os_ken.controller.ofp_handler", "testbed.agent.controller.recorder", app])


def load(path: Path) -> str:
    """Imports an app's file; the name of the module. An app that looks at the links between switches gets them."""
    from os_ken import cfg
    from os_ken.base.app_manager import AppManager, OSKenApp

    if "topology" in imported(path):
        from os_ken.topology import switches  # noqa: F401 - its options

        cfg.CONF.set_override("observe_links", True)
    spec = importlib.util.spec_from_file_location(FILE_APP, path)
    assert spec is not None, f"BUG: {path}"
    assert spec.loader is not None, f"BUG: {path}"
    module = importlib.util.module_from_spec(spec)
    sys.modules[FILE_APP] = module
    spec.loader.exec_module(module)
    if AppManager().load_app(FILE_APP) is None:
        raise ImportError(f"{path.name}: no class of it is an app (an OSKenApp or RyuApp)")
    assert issubclass(AppManager().load_app(FILE_APP), OSKenApp), "BUG: an app that is none"
    return FILE_APP


def imported(path: Path) -> set[str]:
    """The words, such as `lib` and `stplib`, of the names of os-ken (or Ryu) that an app's file imports."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{each.name}" for each in node.names]
    return {word for name in names for first, *more in [name.split(".")] if first in ("ryu", "os_ken") for word in more}


if __name__ == "__main__":
    main()
