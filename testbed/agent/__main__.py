"""Starts the agent: makes this folder a package and calls its main function."""

import importlib.util
import os
import sys

if __name__ == "__main__":
    folder = os.path.dirname(__file__)
    spec = importlib.util.spec_from_file_location(
        "agent", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None, "BUG: no package around this file"
    sys.modules["agent"] = importlib.util.module_from_spec(spec)
    try:
        status = importlib.import_module("agent.main").main(
            *sys.argv[1:5], serves="serve" in sys.argv[5:], has_vms="vm" in sys.argv[5:]
        )
    except BaseException as error:  # a guest panics when its first process dies: say why instead
        print(f"agent: {type(error).__name__}: {error}", file=sys.stderr)
        status = 1
    if sys.argv[1] == "guest":
        importlib.import_module("agent.syscall").power_off()
    sys.exit(status)
