"""Starts the agent: makes this folder a package and calls its main function.

`importlib` would do it, too; a guest takes longer to import that than to import the agent.
"""

import os
import sys

if __name__ == "__main__":
    package = sys.modules["agent"] = type(sys)("agent")
    package.__path__ = [os.path.dirname(__file__)]
    try:
        status = __import__("agent.main", fromlist=["main"]).main(
            *sys.argv[1:5], serves="serve" in sys.argv[5:], has_vms="vm" in sys.argv[5:]
        )
    except BaseException as error:  # a guest panics when its first process dies: say why instead
        print(f"agent: {type(error).__name__}: {error}", file=sys.stderr)
        status = 1
    if sys.argv[1] == "guest":
        __import__("agent.syscall", fromlist=["syscall"]).power_off()
    sys.exit(status)
