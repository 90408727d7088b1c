"""Commands import what they need, and no library that takes long to import and serves another command."""

import json
import subprocess
import sys

import pytest

HEAVY = {"ansible_runner", "asyncssh", "distributed", "duckdb", "matplotlib", "pydantic", "pyroute2", "scipy"}
NUMBERS = {"numpy", "pyarrow"}
CASES = {
    ("check", "quickstart"): HEAVY | NUMBERS,
    ("list",): HEAVY | NUMBERS,
    ("status",): HEAVY | NUMBERS,
    ("exec", "--help"): HEAVY | NUMBERS,
    ("link", "--help"): HEAVY | NUMBERS,
    ("run", "quickstart", "--dry-run"): HEAVY | {"pyarrow"},
}
ENDS = "import sys, json, atexit; atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))))"
STARTS = "sys.argv = ['testbed', *sys.argv[1:]]; from testbed.cli import main; main()"


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_a_command_imports_no_library_of_another(words: tuple[str, ...]) -> None:
    done = subprocess.run(
        (sys.executable, "-c", f"{ENDS}; {STARTS}", *words), stdout=subprocess.PIPE, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}
    assert "testbed" in loaded
    assert not loaded & CASES[words]
