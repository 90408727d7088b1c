"""A kernel for all users: an ordinary user who has nothing of their own is up, and pings, in seconds of a processor."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from interactive import TESTBED
from patience import PATIENCE_S

from testbed.kernel.image import travel

pytestmark = [
    pytest.mark.lab,
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root keeps files for all users"),
]

FIRST_PING_S = 10.0
"""Of a processor, for `up` and `ping`; to build a kernel takes minutes."""
STRANGER = 64321
"""A user whom this computer does not know."""
AS_STRANGER = ("setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", "--no-new-privs", "--")
APART = """
mount -t tmpfs -o mode=755 tmpfs /var/cache
"$PYTHON" -c "$TESTBED" kernel import "$FILE" --sha256 "$DIGEST" --for-all || exit 1
cd "$STRANGERS" || exit 1
export HOME="$STRANGERS" XDG_CACHE_HOME="$STRANGERS/cache"
exec "$@" sh -c '"$PYTHON" -c "$TESTBED" up net.yaml && "$PYTHON" -c "$TESTBED" ping a b -c 1 && times
"$PYTHON" -c "$TESTBED" down net && ls cache/testbed'
"""
"""In a mount namespace of its own: what is kept for all vanishes with it. `times` tells what the commands took as user
and as system; what goes on, the network, does not count.
"""


@pytest.fixture
def strangers(tmp_path: Path) -> Path:
    """A stranger's home, which a test's folder, for its user alone, must let through."""
    reads = subprocess.run((*AS_STRANGER, sys.executable, "-c", "import testbed"), capture_output=True, check=False)
    if reads.returncode:
        pytest.skip("the source or the interpreter is for this user alone")
    home = Path(tempfile.mkdtemp())
    (home / "net.yaml").write_text("name: net\nnodes: {a: {type: host}, b: {type: host}}\nlinks: {l: {ends: [a, b]}}\n")
    for path in (home, home / "net.yaml"):
        os.chown(path, STRANGER, STRANGER)
    return home


def test_an_ordinary_user_pings_within_seconds_of_a_kernel_for_all(strangers: Path, tmp_path: Path) -> None:
    _, parcel = travel.export(None)
    (tmp_path / "lab.tar.gz").write_bytes(parcel.data)
    own = {"PYTHON": sys.executable, "TESTBED": TESTBED, "FILE": str(tmp_path / "lab.tar.gz")}
    environment = {**os.environ, **own, "DIGEST": parcel.digest, "STRANGERS": str(strangers)}
    words = ("unshare", "--mount", "--propagation", "private", "sh", "-c", APART, "sh", *AS_STRANGER)
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    finally:
        shutil.rmtree(strangers)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "/var/cache/testbed/kernels" in done.stdout
    assert "1 received" in done.stdout
    taken = re.findall(r"(\d+)m([\d.]+)s", done.stdout)
    assert len(taken) == 4
    assert 0 < sum(60 * int(minutes) + float(seconds) for minutes, seconds in taken) < FIRST_PING_S
    assert "kernels" not in done.stdout.splitlines()  # of the user's own
