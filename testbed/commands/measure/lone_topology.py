"""What `testbed run` does with a topology in Python that comes without a scenario: one flow, or pings, from its first
host to its last. Writes a scenario file to a temporary folder.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from ...error import UserError
from ...model.address import address_book
from ...model.data_path import data_path_between, lowest_rate_bps
from ...model.topology import Topology
from ...spec.load import is_topology, load_topology, read
from ...spec.mininet_import import is_python, path_of, without_effect
from ...spec.syntax.attachment import Folder, Permission, permitted

FLOW = {"tool": "flow", "duration": "10 s"}
PINGS = {"tool": "ping", "count": "10", "interval": "1 s"}
"""Where no link on the way has a rate: in virtual time a flow there would never end."""


@contextmanager
def scenario_for(file: Path, may: Permission) -> Iterator[tuple[Path, Permission]]:
    """The file itself; of a topology in Python the scenario that runs over it, which may name it. Raises UserError if
    it has one host, and for another topology.
    """
    if not is_python(file):
        if file.exists() and is_topology(file):
            raise UserError(
                f"{file} is a topology; allowed: a scenario file, or to start the network: testbed up {file}"
            )
        yield file, may
        return
    with tempfile.TemporaryDirectory(prefix="testbed-") as folder:
        written = Path(folder, "scenario.yaml")
        written.write_text(text(load_topology(file, may), file.absolute()))
        for line in without_effect(read(file), Folder.of(file, may)):
            print(line, file=sys.stderr)
        yield written, permitted((*may.files, path_of(str(file))))


def text(topology: Topology, file: Path) -> str:
    hosts = [node.name for node in topology.nodes if node.kind.is_local_host]
    if len(hosts) < 2:
        raise UserError(f"{file} has no two hosts to run anything between; allowed: a topology with two, or testbed up")
    first, last = hosts[0], hosts[-1]
    path = data_path_between(topology, address_book(topology), first, last).path
    workload = PINGS if lowest_rate_bps(path) is None else FLOW
    said = {"name": topology.name, "topology": str(file), "workload": {**workload, "from": first, "to": last}}
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True)
