"""Starts the agent: makes this folder a package and calls its main function."""

import importlib
import os
import sys
import types

if __name__ == "__main__":
    package = sys.modules["agent"] = types.ModuleType("agent")  # by `importlib.util` a guest would take longer
    package.__path__ = [os.path.dirname(__file__)]
    try:
        status = importlib.import_module("agent.main").main(
            *sys.argv[1:5],
            serves="serve" in sys.argv[5:],
            has_vms="vm" in sys.argv[5:],
            has_events="events" in sys.argv[5:],
        )
    except BaseException as error:  # a guest panics when its first process dies: say why instead
        print(f"agent: {type(error).__name__}: {error}", file=sys.stderr)
        status = 1
    if sys.argv[1] == "guest":
        importlib.import_module("agent.syscall").power_off()
    sys.exit(status)
