"""A workbench: a source that is unpacked, configured and compiled once and kept, in which a change takes seconds.

Writes to its own folder (`$XDG_CACHE_HOME/testbed/trees`), and puts finished kernels into the cache.

There is one for each source, configuration, set of our patches and compiler, and one build in it at a time. A build
writes down which files it changes before it changes them, and keeps the originals. So however it ends, the next one
begins with the source as it was. Its kernels have no profile, which changes no result.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ... import process
from ...cache_folder import locked, open_lock, refuse_foreign, user_folder
from ...error import MachineError, TestbedError, UserError
from ...model.run_setting import ON_TRIAL
from ..shelf import Shelf
from ..shelf import write as write_record
from . import build, feature, first_boot, fit, make, recipe
from .build import Report, Stage
from .cache import Cache, KernelImage, Record, user_cache
from .change import NOTHING, Change
from .debian import Archive, mirror
from .feature import Features
from .recipe import Patch, Recipe, options
from .source import Source, Tree, choose

UNUSED_S = 30 * 24 * 3600.0
"""A kernel or a tree that nobody used for so long is removed."""
ROOM_BYTES = 300_000_000
"""What building a change in a compiled tree may take."""
OBJECT = re.compile(r"^  CC +(\S+\.o)$")
OF_CONFIGURATION = frozenset({"arch/um/kernel/config.o", "kernel/configs.o", "vmlinux.o"})
"""Objects that hold the configuration as text, or all others."""
NAME_KEPT = re.compile(r"[^A-Za-z0-9._-]+")
STEP_NS = 60 * 10**9
"""No file takes longer to compile."""
SAID_MAX = 60
"""Lines of a compiler's output that are shown."""


@dataclass(frozen=True)
class Built:
    """A kernel with a change: what the compiler said of it (`warnings`), which objects were compiled for it, and
    whether its code is that of the base, byte for byte. `is_new`: it was built now.
    """

    image: KernelImage
    change: Change
    warnings: str
    objects: tuple[str, ...]
    is_base_code: bool
    is_new: bool
    wall_s: float = 0.0


@dataclass(frozen=True)
class Workbench:
    """`home` has the tree, the originals of changed files, and those of files that our own patches change."""

    home: Path
    title: str
    key: str
    kernels: Cache
    compiler: str
    source_identity: str
    ours: Recipe

    @property
    def tree(self) -> Path:
        return self.home / "tree"

    def path(self, name: str) -> Path:
        """A file of the source with our patches, whatever change is in the tree."""
        kept = self.home / "originals" / name
        return kept if kept.exists() or name in self._changed() else self.tree / name

    def unpatched(self, name: str) -> Path:
        """The same without our patches."""
        before = self.home / "unpatched" / name
        return before if before.exists() else self.path(name)

    def names(self) -> Iterator[str]:
        """The files of the source, without those that our patches add."""
        changed = self._changed()
        added = {name for name, is_old in changed.items() if not is_old} | self._added()
        here = {str(path.relative_to(self.tree)) for path in Tree(self.tree).files() if not path.is_symlink()}
        yield from sorted((here | {name for name, is_old in changed.items() if is_old}) - added)

    @property
    def controls(self) -> tuple[str, ...]:
        """The congestion controls of the kernel without a change."""
        return first_boot.features(self.base().image.path).congestion_controls

    def base(self, report: Report = lambda stage: None, jobs: int | None = None) -> Built:
        """The kernel without a change."""
        return self.build(NOTHING, report, jobs)

    def build(self, change: Change, report: Report = lambda stage: None, jobs: int | None = None) -> Built:
        """The kernel with a change, from the cache if it is there. Raises UserError if it does not compile, as the
        compiler says it; MachineError for what this computer lacks.
        """
        key = self._key(change)
        if (found := self._kept(key, change)) is not None:
            return found
        with self._locked(report):
            if (found := self._kept(key, change)) is not None:
                return found
            begun = self._mend()
            is_first = not (self.home / "base").exists()
            if is_first and change.files:
                self._make(NOTHING, self._key(NOTHING), report, jobs, begun)
            return self._make(change, key, report, jobs, begun)

    def _key(self, change: Change) -> str:
        return hashlib.sha256(f"{self.key}\n{change.sha256}".encode()).hexdigest()

    def _kept(self, key: str, change: Change) -> Built | None:
        for record, image in reversed(self.kernels.records()):
            if record.key == key:
                self.kernels.use(image.folder.name)
                noted = Shelf(self.kernels.folder, "change.json").known(image.folder.name) or {}
                objects = tuple(map(str, noted.get("objects", ())))
                same = bool(noted.get("is_base_code", not change.files))
                return Built(image, change, str(noted.get("warnings", "")), objects, same, is_new=False)
        return None

    def _make(self, change: Change, key: str, report: Report, jobs: int | None, begun: int = 0) -> Built:
        """`begun` are the steps of a build that was interrupted, which counts in the first one, the long one."""
        began_s = time.monotonic()
        self._check_room()
        with self.steady():
            self._put(change.files)
        self._configure(change)
        log = self.home / "build.log"
        first = not (self.home / "base").exists()
        total, begun = (build.LAB.steps, begun) if first else (None, 0)
        what = "compiling the base, once" if first else "compiling"
        try:
            with self._marked() as mark:

                def step(done: int) -> None:
                    done += begun
                    mark.write_text(str(done))
                    report(Stage(what, done, None if total is None else max(done, total)))

                make.compile(self.tree, "um", "linux", jobs or os.cpu_count() or 1, log, step)
        except process.CommandError as error:
            raise _refusal(change, error, log) from None
        text = log.read_text(errors="replace")
        self._refuse_unbuilt(change)
        with self.kernels.partial() as partial:
            made = partial / "image"
            made.mkdir()
            shutil.copyfile(self.tree / "linux", made / "linux")
            (made / "linux").chmod(0o755)
            (made / "config").write_text((self.tree / ".config").read_text())
            shutil.copyfile(log, made / "build.log")
            if not change.files:
                report(Stage("booting it once"))
                feature.write(made, first_boot.first_features(made / "linux"))
            else:
                feature.write(made, _with_control(first_boot.features(self.base().image.path), change))
            same = not change.files or _same(made / "linux", self.home / "base")
            objects = self._differing(change, text)
            warnings = _said(text, "warning:") if change.files else ""
            about = {"label": change.label, "files": sorted(change.files), "is_base_code": same}
            write_record(made / "change.json", {**about, "objects": objects, "warnings": warnings})
            image = self.kernels.keep(made, self._record(change, key, made))
        self._remove_unused()
        if not change.files:
            write_record(self.home / "objects.json", self._digests(self._all_objects()))
            shutil.copyfile(self.tree / "linux", self.home / "base.new")
            (self.home / "base.new").replace(self.home / "base")
        wall_s = time.monotonic() - began_s
        return Built(image, change, warnings, objects, same, is_new=True, wall_s=wall_s)

    def _record(self, change: Change, key: str, made: Path) -> Record:
        label = NAME_KEPT.sub("-", change.label).strip("-.") or "change"
        patches = {patch.name: patch.sha256 for patch in self.ours.patches}
        if change.files:
            patches[change.label] = change.sha256
        return Record(
            name=f"{ON_TRIAL}{label}-{key[:8]}",
            key=key,
            release=(self.tree / "include/config/kernel.release").read_text().strip(),
            config_hash=hashlib.sha256((made / "config").read_bytes()).hexdigest(),
            is_default=False,
            source=self.title,
            source_identity=self.source_identity,
            recipe_hash=self.ours.sha256,
            patches=patches,
            compiler=self.compiler,
            built=datetime.now(UTC).isoformat(timespec="seconds"),
            steps=build.LAB.steps,
        )

    def _check_room(self) -> None:
        for folder in (self.home, self.kernels.folder):
            folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(folder).free
            needed = ROOM_BYTES if (self.home / "base").exists() else build.ROOM_BYTES
            if free < needed:
                what = f"building a kernel in {self.home} takes {needed / 1e9:.1f} GB; {folder} has {free / 1e9:.1f} GB"
                raise MachineError(what, f"df -h {folder}, make room, and the same command again")

    def _remove_unused(self) -> None:
        for path in self.kernels.folder.glob(f"{ON_TRIAL}*/{self.kernels.record}"):
            if time.time() - path.stat().st_mtime > UNUSED_S:
                shutil.rmtree(path.parent, ignore_errors=True)

    # --- files of a change ----------------------------------------------------------------------------------

    def _changed(self) -> dict[str, bool]:
        """The files that may differ from the source, and whether the source has them."""
        known = Shelf(self.home.parent, "changed.json").known(self.home.name) or {}
        return {str(name): bool(is_old) for name, is_old in known.items()}

    def _added(self) -> set[str]:
        """The files that our own patches add."""
        known = Shelf(self.home.parent, "added.json").known(self.home.name) or {}
        return set(map(str, known.get("files", ())))

    def _put(self, files: Mapping[str, bytes | None]) -> None:
        """Brings the tree to the source with these files. One that is as it should be keeps its time, so that make does
        not compile it again.
        """
        known = self._changed()
        wanted = dict(known)
        for name in files:
            path = self.tree / name
            if name not in known:
                wanted[name] = path.is_file()
                if wanted[name]:
                    self._keep(path, self.home / "originals" / name)
        write_record(self.home / "changed.json", wanted)
        for name, is_old in wanted.items():
            original = self.home / "originals" / name
            content = files[name] if name in files else (original.read_bytes() if is_old else None)
            self._set(self.tree / name, content)
        write_record(self.home / "changed.json", {name: is_old for name, is_old in wanted.items() if name in files})
        for name in wanted.keys() - files.keys():
            (self.home / "originals" / name).unlink(missing_ok=True)

    @staticmethod
    def _keep(path: Path, kept: Path) -> None:
        """Whole or not at all: what is there is taken for the original."""
        kept.parent.mkdir(parents=True, exist_ok=True)
        half = kept.with_name(f".{kept.name}.half")
        shutil.copyfile(path, half)
        half.replace(kept)

    @staticmethod
    def _set(path: Path, content: bytes | None) -> None:
        if content is None:
            path.unlink(missing_ok=True)
        elif not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            path.write_bytes(content)

    def _configure(self, change: Change) -> None:
        """Puts the base's configuration there, with the option of a new control, and refuses any other difference."""
        config, base = self.tree / ".config", self.home / "config"
        if not base.exists():
            base.write_text(config.read_text())
        wanted = base.read_text() + (f"{change.option}=y\n" if change.option else "")
        touches = any(Path(name).name.startswith("Kconfig") for name in change.files)
        mark = self.home / "configured"
        now = f"{change.sha256 if touches else ''} {change.option or ''}"
        if mark.exists() and mark.read_text() == now:
            return
        mark.unlink(missing_ok=True)
        config.write_text(wanted)
        try:
            make.run(self.tree, "um", "olddefconfig")
        except process.CommandError as error:
            raise UserError(f"{change.label}: Kconfig cannot be read:\n{make.reasons(error.stderr)}") from None
        before, after = options(base.read_text()), options(config.read_text())
        differ = {name for name in before.keys() | after.keys() if before.get(name, "n") != after.get(name, "n")}
        expected = {change.option} if change.option else set()
        if not touches or change.adds:
            odd = sorted(differ ^ expected)
            if odd:
                raise UserError(
                    f"{change.label}: the configuration of the kernel differs from the base's in {', '.join(odd)}; "
                    "allowed: a change that leaves it alone"
                )
        mark.write_text(now)

    def _refuse_unbuilt(self, change: Change) -> None:
        """Raises UserError if no file of the change is compiled: what is measured then says nothing about it."""
        sources = [name for name in change.files if name.endswith((".c", ".S", ".h"))]
        compiled = [name for name in sources if name.endswith(".h") or (self.tree / name).with_suffix(".o").exists()]
        if change.files and not compiled:
            listed = ", ".join(sorted(sources or change.files)[:5])
            raise UserError(
                f"{change.label}: the lab kernel compiles none of what it changes ({listed}), so nothing would differ; "
                "allowed: a change to what kernel/config and kernel/lab/config build"
            )

    def _differing(self, change: Change, log: str) -> tuple[str, ...]:
        """The objects that are not those of the base, by their content. Raises UserError if a new control changes more
        than itself.
        """
        if not change.files:
            return ()
        base = Shelf(self.home.parent, "objects.json").known(self.home.name) or {}
        compiled = {match[1] for line in log.splitlines() if (match := OBJECT.match(line))}
        now = self._digests(sorted({*base, *compiled} - OF_CONFIGURATION))
        found = tuple(name for name, digest in now.items() if digest != base.get(name, ""))
        own = {str(Path(name).with_suffix(".o")) for name in change.files if name.endswith(".c")}
        if change.adds and (odd := sorted({*found} - own)):
            raise UserError(
                f"{change.label}: the kernel with it differs from the base in more than itself: {', '.join(odd[:5])}; "
                "allowed: a file that other files of the kernel do not see"
            )
        return found

    def _digests(self, names: Iterable[str]) -> dict[str, str]:
        """By name; of a file that is not there, nothing."""
        paths = ((name, self.tree / name) for name in names)
        return {name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "" for name, path in paths}

    def _all_objects(self) -> list[str]:
        """The objects of the kernel, without those of the programs that build it."""
        names = (path.relative_to(self.tree) for path in self.tree.rglob("*.o"))
        kept = (path for path in names if path.parts[0] not in ("scripts", "tools") and path.name[0] != ".")
        return sorted(map(str, (path for path in kept if path.name != "vmlinux.o")))

    # --- one at a time, however it ends ----------------------------------------------------------------------

    def _locked(self, report: Report) -> AbstractContextManager[None]:
        what = Stage(f"waiting for another build in {self.home}")
        return locked(open_lock(self.home / ".lock"), lambda: report(what))

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Meanwhile no build exchanges files of the tree: what is read of them is all of the source. A build holds it
        for moments; it is not for use within itself.
        """
        self.home.mkdir(parents=True, exist_ok=True)
        with locked(open_lock(self.home / ".files")):
            yield

    @contextmanager
    def _marked(self) -> Iterator[Path]:
        """While make runs there is a mark with the steps that are done. One that is left says that an object may be
        half-written.
        """
        mark = self.home / "making"
        mark.touch()
        try:
            yield mark
        except process.CommandError:  # make itself ended, and removed what is not whole
            mark.unlink(missing_ok=True)
            raise
        mark.unlink(missing_ok=True)

    def _mend(self) -> int:
        """After a killed build: removes what it made last, which may be half of a file. How many steps it had done."""
        mark = self.home / "making"
        if not mark.exists():
            return 0
        done = mark.read_text()
        since_ns = mark.stat().st_mtime_ns - STEP_NS
        for folder, _, names in os.walk(self.tree):
            for name in names:
                if name.endswith((".o", ".a", ".cmd", ".so", ".dbg", ".lds")) or name in ("linux", "vmlinux"):
                    path = Path(folder, name)
                    if not path.is_symlink() and path.stat().st_mtime_ns >= since_ns:
                        path.unlink(missing_ok=True)
        mark.unlink()
        return int(done) if done.isdecimal() else 0


def _with_control(base: Features, change: Change) -> Features:
    """What a kernel has with a change: what the base has, and a new control."""
    added = (change.control,) if change.adds and change.control else ()
    return replace(base, congestion_controls=tuple(sorted({*base.congestion_controls, *added})))


def _same(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()


def _refusal(change: Change, error: process.CommandError, log: Path) -> TestbedError:
    text = log.read_text(errors="replace") if log.exists() else error.stderr
    if not change.files:
        return MachineError(f"the base could not be built: {error}", f"less {log}")
    if "No space left on device" in text:
        return MachineError(f"disk full: {log.parent} (No space left on device)", f"df -h {log.parent}, and make room")
    said = _said(text, "error:") or make.reasons(text)
    return UserError(f"{change.label} does not compile:\n{said}\nthe whole log is in {log}")


def _said(log: str, word: str) -> str:
    """What the compiler said about errors or warnings, as it said it: from "In file included from" or the function's
    name to the end of the picture with the caret.
    """
    found: list[str] = []
    block: list[str] = []
    for line in [*log.splitlines(), ""]:
        is_picture = line.startswith((" ", "\t")) and not make.STEP.match(line)
        begins = re.match(r"\S+?:(\d+:)* |In file included|\S+: In function|ld: |/usr/bin/ld", line) is not None
        if is_picture or begins:
            block.append(line)
            continue
        found += block if any(word in each for each in block) or (word == "error:" and _linking(block)) else []
        block = []
    kept = [line for line in found if not line.startswith("make")]
    return "\n".join(kept[:SAID_MAX])


def _linking(block: list[str]) -> bool:
    return any("undefined reference" in line or "multiple definition" in line for line in block)


def open_workbench(source: str | None = None, report: Report = lambda stage: None) -> Workbench:
    """The workbench of a source: a version, a tarball, a folder; None is the source of the default lab kernel. The tree
    is made if there is none. Raises UserError for a bad source, MachineError for what this computer lacks.
    """
    kernels, ours, compiler = user_cache(), recipe.load("lab"), build.compiler_version()
    folder = user_folder() / "trees"
    for each in (folder.parent, folder):
        refuse_foreign(each)
    shelf = Shelf(folder, "tree.json")
    if source is None and (known := _known_default(shelf, ours, compiler)) is not None:
        return _workbench(known, shelf, kernels, ours, compiler)
    report(Stage("looking for the kernel source"))
    chosen = choose(source, Archive(kernels.folder.parent / "debian", mirror()))
    words = "\n".join((chosen.identity, ours.sha256, compiler))
    key = hashlib.sha256(words.encode()).hexdigest()
    name = key[:12]
    if shelf.known(name) is None:
        with shelf.lock(on_wait=lambda: report(Stage("waiting for another build to finish"))):
            if shelf.known(name) is None:
                about = {"default": source is None, "key": key, "compiler": compiler}
                _unpack(shelf, name, chosen, ours, about, report)
    shelf.use(name)
    return _workbench(name, shelf, kernels, ours, compiler)


def _known_default(shelf: Shelf, ours: Recipe, compiler: str) -> str | None:
    """That of the default source, if this recipe and compiler made it; asks no network."""
    for home, about in shelf.things():
        if (about.get("default"), about.get("recipe"), about.get("compiler")) == (True, ours.sha256, compiler):
            return home.name
    return None


def _workbench(name: str, shelf: Shelf, kernels: Cache, ours: Recipe, compiler: str) -> Workbench:
    about = shelf.known(name)
    assert about is not None, "BUG: a workbench without a record"
    said = {key: str(about[key]) for key in ("title", "key", "source_identity")}
    return Workbench(shelf.folder / name, kernels=kernels, compiler=compiler, ours=ours, **said)


def _unpack(shelf: Shelf, name: str, source: Source, ours: Recipe, about: dict[str, Any], report: Report) -> None:
    shelf.remove_unused(UNUSED_S)
    shelf.folder.mkdir(parents=True, exist_ok=True)
    build.check_machine(shelf.folder, build.LAB)
    with shelf.partial() as partial:
        home = partial / "home"
        home.mkdir()
        tree = home / "tree"
        report(Stage(f"unpacking {source.name}, once"))
        source.unpack(tree)
        added = _keep_unpatched(tree, home, ours.patches)
        try:
            fit.prepare(tree, ours, source.name)
            build.configure(tree, build.LAB, ours)
        except process.CommandError as error:
            raise UserError(f"{source.name} could not be prepared: {error}") from None
        write_record(home / "added.json", {"files": sorted(added)})
        about |= {"title": source.name, "source_identity": source.identity, "recipe": ours.sha256}
        shelf.put(home, name, about)


def _keep_unpatched(tree: Path, home: Path, patches: tuple[Patch, ...]) -> set[str]:
    """Keeps the files that our patches change as they were; the names of those that the patches add."""
    added = set()
    for patch in patches:
        for name in re.findall(r"^\+\+\+ [^/\s]+/(\S+)", patch.text, re.MULTILINE):
            kept = home / "unpatched" / name
            if (tree / name).is_file():
                kept.parent.mkdir(parents=True, exist_ok=True)
                if not kept.exists():
                    shutil.copyfile(tree / name, kept)
            else:
                added.add(name)
    return added
