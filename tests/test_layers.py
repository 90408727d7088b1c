"""Imports point one way, down the table; one module starts processes."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "testbed"

# From the top. A module imports from its own layer and from those below it. A sub-package counts as one name.
LAYERS = (
    ("__init__", "__main__", "cli", "commands"),  # testbed.open is the database's
    ("doctor",),
    ("sdndoctor", "vmdoctor", "machinedoctor"),
    ("examination",),
    ("leftover",),
    ("interactive",),
    ("reproduction",),
    ("report", "plot", "profilefigure"),
    ("comparison",),
    ("published",),
    ("samplefile",),
    ("metric", "limitation"),
    ("series",),
    ("overlay",),
    ("condition",),
    ("sweep",),
    ("agenda", "database"),
    ("repetition", "estimate", "table"),
    ("runner",),
    ("here",),
    ("requirement", "probe"),
    ("relay", "playbook"),
    ("ssh",),
    ("store",),
    ("column",),
    ("result",),
    ("gate",),
    ("tccheck",),
    ("networkcheck", "rttcheck", "hostcheck", "schedulecheck", "policycheck", "switchcheck", "vmcheck"),
    ("finding",),
    ("evidence",),
    ("vmevidence", "capture"),
    ("trial",),
    ("standing",),
    ("far",),
    ("here",),
    ("requirement", "probe"),
    ("substitution",),
    ("flowtable", "controllerhome"),
    ("analysis",),
    ("workloads",),
    ("nic",),
    ("kernels", "native", "journal"),
    ("memory",),
    ("plan",),
    ("leg", "construction"),
    ("cabling", "mininet", "instruction"),
    ("vswitch", "node"),
    ("qemu",),
    ("control",),
    ("timeline",),
    ("tclink",),
    ("emulator",),
    ("ruleset",),
    ("interval", "policing"),
    ("stage",),
    # spec: the files, then the values they are read into
    ("specfile", "schema", "network", "option", "cell", "exclude", "dimension", "axis", "axisrange", "appfile"),
    ("inventory", "topo"),
    ("scenario", "topologycheck"),
    ("openflowcheck", "machinecheck"),
    (
        "scenariofile",
        "topologyfile",
        "backgroundfile",
        "workloadfile",
        "flowfile",
        "udpfile",
        "httpfile",
        "vmfile",
    ),
    ("openflowfile", "machinefile"),
    ("switchfile", "segmentcheck"),
    ("schedulefile", "policyfile", "impairmentfile"),
    ("field", "topofile"),
    ("reader", "shape", "document"),
    ("route", "forwarding", "address"),
    ("attachment",),
    ("topology", "workload", "background", "setting"),
    ("schedule", "openflow", "vm"),
    ("impairment", "vlan", "machine"),
    ("readback", "sample"),
    ("netlink", "tcpinfo", "pcap"),
    ("command",),
    ("units",),
    ("process", "package", "library"),
    ("agent", "sdn", "mininetdriver"),
    ("error",),
)
DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}

STARTS_PROCESSES = {"process", "agent", "mininetdriver"}  # the last two run where the network is, on their own

MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def layer_name(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """All that a module imports, as dotted names; relative imports made absolute."""
    names: set[str] = set()
    here = ("testbed", *path.parts[:-1])
    for node in ast.walk(ast.parse((PACKAGE / path).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names |= {f"{module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_every_module_has_a_layer(path: Path) -> None:
    assert layer_name(path) in DEPTH, f"give testbed/{path} a place in LAYERS"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_imports_point_down(path: Path) -> None:
    ours = (name.split(".") for name in imported(path) if name.startswith("testbed."))
    upward = [".".join(words) for words in ours if DEPTH.get(words[1], len(LAYERS)) < DEPTH.get(layer_name(path), 0)]
    assert not upward, f"testbed/{path} imports from a layer above its own"


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_one_module_starts_processes(path: Path) -> None:
    words = {name.split(".")[0] for name in imported(path)}
    assert layer_name(path) in STARTS_PROCESSES or not words & {"subprocess", "pty", "multiprocessing"}
