"""Ryu's own samples do what the table of docs/sdn.md says: they run as they are, or are refused at once.

Ryu 4.34 comes from a package registry; without one, only the table's names are looked at.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from trials import RunTrial

from testbed.error import TestbedError
from testbed.kernel.guest import TrialError
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile

RYU = "ryu==4.34"
OFFLINE = ("No matching distribution found", "Could not find a version")
FORWARDS = (
    *("simple_switch_13", "simple_switch_14", "simple_switch_15", "simple_switch_12", "simple_switch"),
    *("example_switch_13", "simple_monitor_13", "simple_switch_igmp_13", "simple_switch_lacp_13"),
    "simple_switch_snort",
)
LISTENS_FIRST = "simple_switch_stp_13"
FORWARDS_NOTHING = "cbench"
NO_WEB = "os-ken does not have"
REFUSED = {
    **dict.fromkeys(("ofctl_rest", "simple_switch_rest_13", "simple_switch_websocket_13", "ws_topology"), NO_WEB),
    **dict.fromkeys(("rest_conf_switch", "rest_firewall", "rest_qos", "rest_router", "rest_topology"), NO_WEB),
    "rest_vtep": NO_WEB,
    "gui_topology": NO_WEB,
    **dict.fromkeys(("simple_switch_igmp", "simple_switch_lacp", "simple_switch_stp"), "buffer"),
    "conf_switch_key": "not an app",
}
NOT_STARTED = ("wsgi", "bmpstation")
NIGHTLY = (pytest.mark.nightly, pytest.mark.xdist_group("ryu"))


def test_the_table_names_every_sample_that_is_tried() -> None:
    text = (Path(__file__).parents[1] / "docs/sdn.md").read_text().partition("Ryu 4.34, each")[2].partition("\n\nA ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    assert rows
    named: set[str] = set()
    for row in rows:
        whole = ""
        for name in re.findall(r"`([^`]+)`", row):
            whole = name if not name.startswith("_") else whole
            long = name if not name.startswith("_") else f"{re.sub(r'_[0-9a-z]+$', '', whole)}{name}"
            named |= {each for each in REFUSED if each.startswith("rest_")} if name == "rest_*" else {long}
    assert named == {*FORWARDS, LISTENS_FIRST, FORWARDS_NOTHING, *REFUSED, *NOT_STARTED}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of `ryu/app` of its source."""
    folder = tmp_path_factory.mktemp("ryu")
    (folder / "constraints.txt").write_text("setuptools<58\n")  # its setup.py changes their insides
    words = (sys.executable, "-m", "pip", "download", "--quiet", "--use-pep517", "--no-deps", "--no-binary", "ryu", RYU)
    own = {**os.environ, "PIP_CONSTRAINT": str(folder / "constraints.txt")}
    done = subprocess.run(words, cwd=folder, env=own, capture_output=True, text=True, check=False)
    if done.returncode and any(each in done.stderr for each in OFFLINE):
        pytest.skip("no package registry can be reached")
    assert done.returncode == 0, done.stderr
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        for each in archive:
            if re.fullmatch(r"ryu-[^/]+/ryu/app/(gui_topology/)?[a-z0-9_]+\.py", each.name):
                (folder / Path(each.name).name).write_bytes(archive.extractfile(each).read())  # type: ignore[union-attr]
    return folder


def written(samples: Path, name: str, folder: Path) -> dict[str, Any]:
    """A topology of one switch with the sample as it is."""
    (folder / "app.py").write_bytes((samples / f"{name}.py").read_bytes())
    topology = {
        "name": "one",
        "neighbours": "learned",
        "nodes": {
            **{each: {"type": "host"} for each in "ab"},
            "s1": {"type": "ovs"},
            "c0": {"type": "controller", "app": "app.py"},
        },
        "links": {"left": {"ends": ["a", "s1"]}, "right": {"ends": ["b", "s1"]}},
    }
    (folder / "net.yaml").write_text(yaml.safe_dump(topology))
    return TopologyFile.of(load_topology(folder / "net.yaml")).written()


def pings(count: int) -> dict[str, Any]:
    return {"tool": "ping", "from": "a", "to": "b", "count": count, "interval": "1 s"}


@pytest.mark.lab
@pytest.mark.parametrize("name", [pytest.param(each, marks=NIGHTLY) for each in FORWARDS])
def test_a_sample_that_forwards_runs_as_it_is(samples: Path, name: str, run_trial: RunTrial, tmp_path: Path) -> None:
    ran = run_trial(topology=written(samples, name, tmp_path), workload=pings(40))
    assert (ran.ping.sent, ran.ping.received) == (40, 40), ran.result.warnings


@pytest.mark.lab
@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        pytest.param(LISTENS_FIRST, 1, 39, marks=NIGHTLY),
        pytest.param(FORWARDS_NOTHING, 0, 0, marks=NIGHTLY),
    ],
)
def test_a_sample_that_forwards_late_or_nothing_does_so(
    samples: Path, name: str, least: int, most: int, run_trial: RunTrial, tmp_path: Path
) -> None:
    ran = run_trial(topology=written(samples, name, tmp_path), workload=pings(40))
    assert least <= ran.ping.received <= most, ran.result.warnings


@pytest.mark.parametrize(("name", "why"), [pytest.param(*each, marks=NIGHTLY) for each in REFUSED.items()])
def test_a_sample_that_cannot_run_is_refused_before_anything_runs(
    samples: Path, name: str, why: str, tmp_path: Path
) -> None:
    with pytest.raises(TestbedError, match=why):
        written(samples, name, tmp_path)


@pytest.mark.lab
@pytest.mark.parametrize("name", [pytest.param(each, marks=NIGHTLY) for each in NOT_STARTED])
def test_a_sample_that_does_not_start_says_so(samples: Path, name: str, run_trial: RunTrial, tmp_path: Path) -> None:
    with pytest.raises(TrialError, match="the app does not start"):
        run_trial(topology=written(samples, name, tmp_path), workload=pings(1))
