"""What nodes of type `machine` need of this computer. Looks for programs and the user's SSH files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ... import package
from .examination import HOST, Examination

SSH_FILES = Path("~/.ssh")


def examine() -> Iterator[Examination]:
    """`testbed machines` needs the SSH client and Ansible; trials have their own client, and need a key."""
    ssh = package.which("ssh")
    fix = "" if ssh else package.fix_for("ssh")
    yield Examination("ssh client (machine)", ssh is not None, ssh or "missing", fix, HOST)
    playbook = Path(sys.executable).with_name("ansible-playbook")
    found = str(playbook) if os.access(playbook, os.X_OK) else package.which("ansible-playbook")
    yield Examination(
        "ansible-playbook (machine)", found is not None, found or "missing", "" if found else "make setup", HOST
    )
    keys = sorted(path.name for path in SSH_FILES.expanduser().glob("id_*") if not path.suffix)
    agent = os.environ.get("SSH_AUTH_SOCK")
    detail = ", ".join([*keys, *(["an agent"] if agent else [])]) or "no key in ~/.ssh and no agent"
    ok = bool(keys or agent)
    fix = "" if ok else "ssh-keygen -t ed25519   # or name one in inventory.yml"
    yield Examination("ssh key (machine)", ok, detail, fix, HOST)
