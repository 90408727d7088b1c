"""packetdrill in lab kernels: builds it from a source tree of the user's, finds scripts, and runs them in virtual time.
Writes to the cache and to folders of its own.

A script runs as the kernel's own selftests run it (tools/testing/selftests/net/packetdrill/ksft_runner.sh): in a
network namespace of its own, once for each version of IP, with the same options. Many share a lab kernel; one that dies
with it takes nothing away from the others, which run again alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import process
from ..cache_folder import refuse_foreign, user_folder
from ..codec.frozen import dataclass
from ..error import MachineError, UserError
from ..journal import folder_noted, unique
from ..native_program import tools
from ..plan.step import Read, Run, Step
from . import lab
from .guest import TrialError
from .image.cache import KernelImage
from .image.recipe import FOLDER
from .shelf import Shelf

PATCH = FOLDER / "packetdrill" / "sleep.patch"
PROGRAM = "packetdrill"
INSIDE = Path("gtests/net/packetdrill")
"""Where the program is in packetdrill's own tree."""
SCRIPTS = Path("tools/testing/selftests/net/packetdrill")
"""Where the scripts are in Linux's."""
GET = "git clone https://github.com/google/packetdrill, and then testbed packetdrill --source packetdrill …"

V4 = (
    "--local_ip=192.168.0.1", "--gateway_ip=192.168.0.1", "--netmask_ip=255.255.0.0", "--remote_ip=192.0.2.1",
    "-D", "TFO_COOKIE=3021b9d889017eeb", "-D", "TFO_COOKIE_ZERO=b7c12350a90dc8f5",
)  # fmt: skip
V6 = (
    "--mtu=1520", "--local_ip=fd3d:0a0b:17d6::1", "--gateway_ip=fd3d:0a0b:17d6:8888::1",
    "--remote_ip=fd3d:fa7b:d17d::1",
    "-D", "TFO_COOKIE=c1d1e9742a47a9bc", "-D", "TFO_COOKIE_ZERO=82af1a8f9a205c34",
)  # fmt: skip
CMSG4 = ("-D", "CMSG_LEVEL_IP=SOL_IP", "-D", "CMSG_TYPE_RECVERR=IP_RECVERR")
CMSG6 = ("-D", "CMSG_LEVEL_IP=SOL_IPV6", "-D", "CMSG_TYPE_RECVERR=IPV6_RECVERR")
OPTIONS = {"ipv4": (*V4, *CMSG4), "ipv6": (*V6, *CMSG6), "ipv4-mapped-ipv6": (*V4, *CMSG6)}
"""The options of each version of IP, as in ksft_runner.sh."""
OWN_VERSION = re.compile(r"^--ip_version=(\S+)", re.MULTILINE)

ALLOWED = "a script (.pkt), a folder of them, or a tree of Linux"
BATCH = 12
"""So many runs share a lab kernel."""
MEMORY_BYTES = 384 << 20
LIMIT_S = 900
"""The lab time after which a script is ended."""
FOLDER_BYTES = 64 << 20
"""A folder with scripts is copied into the guest."""
WALL_S = 1200.0
BAD_BITS = 1 << 7 | 1 << 9
"""An oops, or a warning, in /proc/sys/kernel/tainted (Documentation/admin-guide/tainted-kernels.rst)."""
WRONG = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = -1\n"
"""A script that must fail: packetdrill that lets it pass tells nothing."""
SAID = 2000


@dataclass(frozen=True)
class Case:
    """A script, below the folder that it came with, and the version of IP that it runs with."""

    root: Path
    script: str
    version: str

    @property
    def name(self) -> str:
        return f"{self.script} {self.version}"


@dataclass(frozen=True)
class Outcome:
    """What became of a case; `wrong` None: it passed. `lab_s` is the lab time that it took."""

    case: Case
    wrong: str | None
    lab_s: float = 0.0


def cases(given: Sequence[Path], versions: Sequence[str] = tuple(OPTIONS)) -> tuple[Case, ...]:
    """The cases of files `.pkt`, folders of them, or trees of Linux. A script that names its version of IP runs with
    that one only. Raises UserError for what has no script.
    """
    found: dict[Case, None] = {}
    for path in given:
        if not path.exists():
            raise UserError(f"{path}: there is no such file; allowed: {ALLOWED}")
        inside = path / SCRIPTS
        root = (inside if inside.is_dir() else path if path.is_dir() else path.parent).resolve()
        scripts = [path.resolve()] if path.is_file() else sorted(root.rglob("*.pkt"))
        if not scripts or any(each.suffix != ".pkt" for each in scripts):
            raise UserError(f"{path}: there is no script of packetdrill; allowed: {ALLOWED}")
        if sum(each.stat().st_size for each in root.rglob("*") if each.is_file()) > FOLDER_BYTES:
            what = f"{root}: the folder has more than {FOLDER_BYTES >> 20} MiB"
            raise UserError(f"{what}; allowed: one with scripts and what they name")
        for script in scripts:
            text = script.read_text(errors="replace")
            own = {each[1] for each in OWN_VERSION.finditer(text)}
            if own - set(OPTIONS) or len(own) > 1:
                what = f"{script}: --ip_version is {', '.join(sorted(own))}"
                raise UserError(f"{what}; allowed: one of {', '.join(OPTIONS)}")
            name = str(script.relative_to(root))
            found |= {Case(root, name, each): None for each in versions if not own or each in own}
    if not found:
        raise UserError(f"no script is for {', '.join(versions)}; allowed: --ip with another version")
    return tuple(found)


def program(source: Path | None, jobs: int) -> Path:
    """The folder with packetdrill, built from a source tree with our patch, or the one that was built last. Raises
    UserError for a tree that is none, MachineError if none was built.
    """
    shelf = Shelf(user_folder() / PROGRAM, "packetdrill.json")
    for each in (user_folder(), shelf.folder):
        refuse_foreign(each)
    if source is None:
        built = [home for home, about in shelf.things() if about.get("patch") == _digest(PATCH)]
        if not built:
            raise MachineError("packetdrill is not built yet, and it is no package of Debian", GET)
        return built[-1]
    inside = source / INSIDE if (source / INSIDE).is_dir() else source
    if not (inside / "run_system_call.c").is_file() or not (inside / "configure").is_file():
        what = f"--source {source}: this is no source of packetdrill"
        raise UserError(f"{what}; allowed: its repository, with {INSIDE}")
    files = sorted(each for each in inside.iterdir() if each.is_file() and each.suffix in (".c", ".h", ".l", ".y"))
    text = "".join(f"{each.name} {_digest(each)}\n" for each in files) + _digest(PATCH)
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    with shelf.lock():
        if shelf.known(name) is not None:
            shelf.amend(name, {"patch": _digest(PATCH)})
            return shelf.folder / name
        with shelf.partial() as partial:
            shutil.copytree(inside, partial / "tree", ignore=shutil.ignore_patterns("*.o", PROGRAM, "tests"))
            _build(partial / "tree", source, jobs)
            (partial / "made").mkdir()
            shutil.copy2(partial / "tree" / PROGRAM, partial / "made" / PROGRAM)
            return shelf.put(partial / "made", name, {"patch": _digest(PATCH)})


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _build(tree: Path, source: Path, jobs: int) -> None:
    try:
        words = ("patch", "-p1", "--force", "--silent", "--no-backup-if-mismatch")
        process.run(words, input=PATCH.read_text(), cwd=tree)
    except process.CommandError:
        raise UserError(f"--source {source}: {PATCH.name} does not fit it; allowed: packetdrill as of 2026") from None
    try:
        process.run(("sh", "./configure"), cwd=tree)
        process.run(("make", f"-j{jobs}", PROGRAM), cwd=tree)
    except process.CommandError as error:
        raise UserError(f"--source {source}: packetdrill could not be built: {error}") from None


def run(
    image: KernelImage,
    program: Path,
    wanted: Sequence[Case],
    jobs: int,
    options: Sequence[str] = (),
    report: Callable[[Outcome], None] = lambda outcome: None,
) -> tuple[Outcome, ...]:
    """Runs all cases, `jobs` lab kernels at a time; their outcomes, in their order. `options` are more of
    packetdrill's. Raises MachineError if packetdrill lets a wrong script pass.
    """
    batches: list[list[Case]] = []
    for case in wanted:
        if not batches or len(batches[-1]) == BATCH or batches[-1][0].root != case.root:
            batches.append([])
        batches[-1].append(case)

    def done(batch: Sequence[Case]) -> list[Outcome]:
        outcomes = _batch(image, program, batch, options)
        for each in outcomes:
            report(each)
        return outcomes

    with ThreadPoolExecutor(jobs) as pool:
        outcomes = [each for found in pool.map(done, batches) for each in found]
    assert [each.case for each in outcomes] == list(wanted), "BUG: a case has no outcome"
    return tuple(outcomes)


def _batch(image: KernelImage, program: Path, batch: Sequence[Case], options: Sequence[str]) -> list[Outcome]:
    try:
        return _guest(image, program, batch, options)
    except TrialError as error:
        if len(batch) == 1:
            return [Outcome(batch[0], f"the lab kernel did not survive it: {error}"[-SAID:])]
        return [each for case in batch for each in _batch(image, program, [case], options)]


def _guest(image: KernelImage, program: Path, batch: Sequence[Case], options: Sequence[str]) -> list[Outcome]:
    """The outcomes of cases in one lab kernel. Raises TrialError if it dies or hangs."""
    with folder_noted(Path(tempfile.gettempdir(), unique("testbed-packetdrill"))) as folder:
        folder.mkdir(exist_ok=True)
        lab.run(
            image,
            _steps(batch, options),
            folder,
            tools=tools(),
            seed=1,
            memory_bytes=MEMORY_BYTES,
            wall_limit_s=WALL_S,
            files=batch[0].root,
            programs=lab.Programs({PROGRAM: program}),
        )
        log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
        entries = [each for each in log if each["step"].get("title", "").startswith("case ")]
        if len(entries) != len(batch) + 1:
            raise TrialError(f"{len(entries)} of {len(batch) + 1} scripts were run")
        wrong, *others = entries
        if wrong["status"] == 0:
            said = "packetdrill lets a script pass that must fail, so it tells nothing"
            raise MachineError(said, "testbed packetdrill --source with another source of packetdrill")
        return _outcomes(batch, others, folder)


def _outcomes(batch: Sequence[Case], entries: Sequence[dict[str, Any]], folder: Path) -> list[Outcome]:
    found, before = [], _tainted(folder / "tainted")
    for number, (case, entry) in enumerate(zip(batch, entries, strict=True)):
        status, wrong = entry["status"], None
        if status:
            said = _text(folder / f"{number}.err") or _text(folder / f"{number}.out") or f"exit status {status}"
            wrong = f"still running after {LIMIT_S} s of lab time" if status == 124 else said
        now = _tainted(folder / f"{number}.tainted")
        if new := now & ~before & BAD_BITS:
            wrong = f"{'an oops' if new & (1 << 7) else 'a warning'} in the kernel: {_text(folder / 'messages')}"
        before = now
        found.append(Outcome(case, wrong, (entry["end_ns"] - entry["begin_ns"]) / 1e9))
    return found


def _tainted(path: Path) -> int:
    text = _text(path)
    return int(text) if text.isdigit() else 0


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()[-SAID:]
    except OSError:
        return ""


def _steps(batch: Sequence[Case], options: Sequence[str]) -> list[Step]:
    """Scripts write beside themselves, so they are copied; first a script that must fail."""
    place = "/run/scripts"
    steps: list[Step] = [
        _copied(lab.FILES, place),
        _copied(PROGRAM, f"/run/{PROGRAM}"),
        Run(("sh", "-c", f"cat >{place}/wrong.pkt"), stdin=WRONG),
        _case(f"{place}/wrong.pkt", "ipv4", (), "wrong"),
        Read(None, (("tainted", "/proc/sys/kernel/tainted"),)),
    ]
    for number, case in enumerate(batch):
        steps.append(_case(f"{place}/{case.script}", case.version, options, str(number)))
        steps.append(Read(None, ((f"{number}.tainted", "/proc/sys/kernel/tainted"),)))
    return [*steps, Run(("sh", "-c", "dmesg | grep -A 20 -m 1 -e 'cut here' -e BUG"), out="messages", may_fail=True)]


def _copied(name: str, place: str) -> Run:
    here = "/run/host"
    mount = f"mkdir -p {place} {here} && mount -t hostfs none {here} -o ro,{lab.HERE}/{name}"
    return Run(("sh", "-c", f"{mount} && cp -r {here}/. {place} && umount {here}"), title=f"copy {name}")


def _case(script: str, version: str, options: Sequence[str], name: str) -> Run:
    folder, _, file = script.rpartition("/")
    words = (
        *("unshare", "--net", "--", "env", f"--chdir={folder}", "timeout", str(LIMIT_S)),
        f"/run/{PROGRAM}/{PROGRAM}",
        *(f"--ip_version={version}", *OPTIONS[version], *options, file),
    )
    step = Run(words, title=f"case {name}", may_fail=True)
    return replace(step, out=f"{name}.out", err=f"{name}.err")
