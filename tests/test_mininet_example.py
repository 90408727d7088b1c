"""The examples that Debian's Mininet ships run unchanged: those that docs/mininet.md says run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from interactive import Home
from test_mininet import needs_mininet

EXAMPLES = Path("/usr/share/doc/mininet/examples")
ALL_REACHED = r"Results: 0% dropped \((\d+)/\1 received\)"
RUN = {
    "bind": ALL_REACHED,
    "controllers": ALL_REACHED,
    "controllers2": ALL_REACHED,
    "emptynet": ALL_REACHED,
    "intfoptions": r"Results: \['9\.\d+ Mbits/sec'",
    "linearbandwidth": r"1 \t\t8\d\.\d Mbits/sec",
    "linuxrouter": ALL_REACHED,
    "multilink": ALL_REACHED,
    "multiping": r"10\.0\.0\.20 -> 10\.0\.0\.17 1 packets transmitted, 1 received",
    "multipoll": r"h3: 64 bytes from 10\.0\.0\.1",
    "multitest": ALL_REACHED,
    "nat": ALL_REACHED,
    "numberedports": ALL_REACHED,
    "popen": r"64 bytes from",
    "popenpoll": r"64 bytes from",
    "scratchnet": r"1 packets transmitted, [01] received",
    "simpleperf": r"Mbits/sec",
    "sshd": ALL_REACHED,
    "vlanhost": r"Results: 80% dropped \(6/30 received\)",
}
"""What each says that did its work; VLANs let each of six hosts reach one other. The controller of scratchnet says more
than a terminal holds that nobody reads (15 600 bytes), and then stands still, maybe before the ping.
"""


@needs_mininet
@pytest.mark.nightly
@pytest.mark.parametrize("name", RUN)
def test_an_example_of_mininet_runs_unchanged(home: Home, name: str) -> None:
    path = EXAMPLES / f"{name}.py"
    if not path.exists():
        pytest.skip("Debian's package came without its documentation")
    done = home.run("mininet", "--virtual", path, input=b"pingall\nexit\n")
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    assert re.search(RUN[name], said), said
    assert home.left() == []
