"""Starts a network: writes its journal entry and its folder, starts its keeper, and waits until all is ready."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .. import journal, process
from ..cache_folder import private
from ..error import MachineError, TestbedError, UserError
from ..journal import Entry, Held, Taken
from ..kernel.image.cache import find
from ..kernel.lab import Programs
from ..native_program import tools
from ..plan.step import data
from ..spec.topology.file import TopologyFile
from ..trial.start.local_words import programs, substituted
from ..trial.strict_folder import remove_tree
from . import node_files
from .build import Build, awaited_ports
from .connection import carry_out
from .link_change import TOPOLOGY
from .running_network import KIND, RunningNetwork, folder_of, networks

KEEPER = "testbed.interactive.keeper"
SEED = 1


class Failed(TestbedError):
    """The network did not come up; the keeper gave the reason."""


def start(
    build: Build,
    name: str,
    file: Path,
    report: Callable[[str], None],
    *,
    schedule: bool = False,
    files: Path | None = None,
    more: Mapping[str, Any] | None = None,
) -> RunningNetwork:
    """Raises UserError if a network of that name is up, MachineError if this computer lacks something, and the error of
    a step that fails. `file` is the topology's; `schedule` begins those of the links. The folder `files` can be read in
    a lab kernel; `more` are nodes that the topology does not have. Calls `report` with what is being done.
    """
    folder = folder_of(name)
    try:
        held = journal.note(KIND, name, folder=str(folder))
    except Taken:
        raise _refusal(Entry(KIND, name, {})) from None
    reading, writing = os.pipe()
    try:
        _write(build, folder, file, held, schedule=schedule, files=files, nodes=more or {})
        log = folder / "keeper.log"
        words = (sys.executable, "-m", KEEPER, folder, str(held.descriptor), str(writing))
        with log.open("wb") as said:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            keeper = process.start(
                words,
                stdout=said,
                stderr=said,
                cwd=Path("/"),
                env=environment,
                pass_fds=(held.descriptor, writing),
                outlives_us=True,
            )
    except BaseException:
        os.close(writing)
        os.close(reading)
        remove_tree(folder)
        held.remove()
        raise
    os.close(writing)
    try:
        with open(reading) as told:
            _wait(told, report, name)
    except BaseException:
        keeper.end(grace_s=20.0)
        raise
    finally:
        with contextlib.suppress(OSError):
            os.close(held.descriptor)
    network = next(each for each in networks() if each.name == name)
    if schedule and build.timeline is not None:
        carry_out(network, [data(build.timeline)])
    return network


def _refusal(entry: Entry) -> TestbedError:
    name, up = entry.name, {each.name: each for each in networks()}
    if any(each.path == entry.path for each in journal.unreadable()):
        fix = f"rm {shlex.quote(str(entry.path))}"
        return MachineError(f"the journal entry of a network {name!r} cannot be read", fix)
    if name not in up:
        return MachineError(f"a killed command left the network {name!r}", "testbed clean")
    since = f"since {up[name].since}" if up[name].is_ready else "about to be"
    return UserError(f"a network {name!r} is up already ({since}); allowed: another --name, or testbed down {name}")


def _write(
    build: Build,
    folder: Path,
    file: Path,
    held: Held,
    *,
    schedule: bool,
    files: Path | None,
    nodes: Mapping[str, Any],
) -> None:
    """Only this user may open the folder: whoever writes to its socket is root in the network."""
    remove_tree(folder)
    private(folder.parent.name)
    folder.mkdir(mode=0o700)
    journal.mark(folder, held.entry)
    (folder / "trial").mkdir()
    for name, (text, mode) in node_files.files(build.topology, build.plan.book).items():
        path = folder / "trial" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
    image = None if build.kernel.kind == "host" else find(build.kernel.name).name
    steps, _ = substituted(
        build.topology, (*build.steps, *awaited_ports(build.topology)), tools(), is_lab=image is not None
    )
    controllers = {switch: each for each in build.plan.channels for switch in each.switches}
    machines = any(node.kind.runs_in == "computer" for node in build.topology.nodes)
    beginning: dict[str, Any] = {
        "entry": str(held.entry.path),
        "image": image,
        "seed": SEED,
        "memory_bytes": build.memory_bytes,
        "steps": [data(node_files.impatient(node_files.talking(step), controllers)) for step in steps],
        "machines": TopologyFile.of(build.topology).written() if machines else None,
        "nics": [asdict(wanted) for wanted in build.plan.real_nics],
        "files": None if files is None else str(files),
        "programs": _told(programs(build.topology)),
    }
    (folder / "start.json").write_text(json.dumps(beginning))
    (folder / TOPOLOGY).write_text(json.dumps(TopologyFile.of(build.topology).written()))
    made = build.to_dict()
    more = {"file": str(file.absolute()), "image": image, "schedule": schedule, "as_started": made["links"]}
    about = {"name": held.entry.name, **more, **made, "nodes": {**made["nodes"], **nodes}}
    (folder / "network.json").write_text(json.dumps(about))
    (folder / "plan.sh").write_text(build.plan.script())


def _told(programs: Programs) -> dict[str, Any]:
    """As the keeper reads them."""
    return {
        "folders": {name: str(folder) for name, folder in programs.folders.items()},
        "reads": [str(each) for each in programs.reads],
        "places": {name: str(folder) for name, folder in programs.places.items()},
    }


def _wait(told: Any, report: Callable[[str], None], name: str) -> None:
    for line in told:
        said = json.loads(line)
        if "step" in said:
            report(said["step"])
        elif "ready" in said:
            return
        elif "fix" in said:
            raise MachineError(said["what"], said["fix"])
        else:
            error = UserError if said["exit_code"] == UserError.exit_code else Failed
            raise error(f"the network {name} did not come up: {said['error']}")
    raise Failed(f"the network {name} did not come up: its keeper ended without a message")
