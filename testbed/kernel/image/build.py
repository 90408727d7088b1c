"""Builds a kernel: source + recipe + compiler → an image in a cache. Writes to the cache only."""

import hashlib
import os
import platform
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ... import package, process
from ...codec.frozen import dataclass
from ...error import MachineError, TestbedError, UserError
from . import feature, first_boot, fit, make, recipe
from .cache import Cache, KernelImage, Record, find, installed, records, user_cache
from .debian import Archive, mirror
from .feature import Features
from .recipe import Patch
from .source import DebianSource, Source, choose

__all__ = ["KernelImage", "Stage", "build", "current_key", "find", "installed"]

ROOM_BYTES = 3_000_000_000
"""The disk space of an unpacked and compiled tree."""


@dataclass(frozen=True)
class Stage:
    """A stage of the build: `done` of `total` steps, both None where there is nothing to count."""

    what: str
    done: int | None = None
    total: int | None = None


Report = Callable[[Stage], None]


@dataclass(frozen=True)
class Target:
    """What a kernel is built to run on.

    `arch` is make's, `product` the target of make, `image` its path in the tree, `steps` the number of files that it
    compiles; later builds use the last count. `try_out` boots the image and asks what it has; MachineError if
    it does not run here.
    """

    use: recipe.Use
    called: str
    arch: str
    product: str
    image: str
    steps: int
    try_out: Callable[[Path], Features]


@dataclass(frozen=True)
class Ingredients:
    """All that determines a kernel."""

    source: Source
    recipe: recipe.Recipe
    compiler: str
    changes: tuple[Patch, ...] = ()

    @property
    def key(self) -> str:
        changes = (change.sha256 for change in self.changes)
        text = "\n".join((self.source.identity, self.recipe.sha256, self.compiler, *changes))
        return hashlib.sha256(text.encode()).hexdigest()


def build(
    source: str | None = None,
    name: str | None = None,
    *,
    patches: Sequence[Path] = (),
    jobs: int | None = None,
    report: Report = lambda stage: None,
    cache: Cache | None = None,
    target: Target | None = None,
    train: make.Train | None = None,
) -> KernelImage:
    """Builds a kernel from a source, or takes it from the cache; a lab kernel unless a `target` says otherwise.

    `source` is a version, a tarball or a folder; None is Debian's newest, and makes it the default kernel.
    `patches` are the user's changes, applied in this order; such a kernel needs a name and is never the default.
    `name` None is the source's own name; `jobs` None is the number of processors. `train` runs the trials that a
    profile is made of; None is a kernel without one. If that fails, the kernel has none, and says why (`profile`).
    UserError for a bad source, MachineError for what this machine lacks.
    """
    if name is not None and (not name or not set(name) <= NAME_LETTERS or name[0] in ".-"):
        raise UserError(f"--name {name!r}: allowed: letters, digits, '.', '_', '-' and not '.' or '-' first")
    if patches and name is None:
        raise UserError("a kernel with a patch of your own needs a name; allowed: --name NAME beside --patch")
    changes = tuple(_change(path) for path in patches)
    is_default = source is None and not changes
    kernels = cache or user_cache()
    target = target or LAB
    ours = recipe.load(target.use)
    if is_default and name is None and cache is None and (image := _for_all(ours)):
        return image
    compiler = compiler_version()
    if is_default and (image := _current(kernels, ours, compiler, name)):
        return image
    with kernels.lock(on_wait=lambda: report(Stage("waiting for another build to finish"))):
        if is_default and (image := _current(kernels, ours, compiler, name)):
            return image
        report(Stage("looking for the kernel source"))
        chosen = choose(source, Archive(kernels.folder.parent / "debian", mirror()))
        mixed = Ingredients(chosen, ours, compiler, changes)
        for record, image in reversed(kernels.records()):
            if record.key == mixed.key:
                default = record.is_default or is_default
                return kernels.adopt(record, name or image.name, default)
        jobs = jobs or os.cpu_count() or 1
        return _make(kernels, target, mixed, name or chosen.name, is_default, jobs, report, train)


NAME_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def _for_all(ours: recipe.Recipe) -> KernelImage | None:
    """The default kernel of this recipe that root keeps for all users, while this user has none."""
    own = {image.key for image in user_cache().installed()}
    found = [image for record, image in records() if record.is_default and record.recipe_hash == ours.sha256]
    return found[-1] if found and found[-1].key not in own else None


def _current(cache: Cache, ours: recipe.Recipe, compiler: str, name: str | None) -> KernelImage | None:
    """The default kernel, if the present recipe and compiler would build it again; asks no network."""
    for record, image in reversed(cache.records()):
        same = (record.is_default, record.recipe_hash, record.compiler) == (True, ours.sha256, compiler)
        if same and name in (None, image.name):
            return image if image == cache.find(None) else cache.adopt(record, image.name, True)
    return None


def current_key() -> str:
    """A name for what `_current` compares: the recipe of lab kernels, and the compiler."""
    text = f"{recipe.load('lab').sha256}\n{compiler_version()}"
    return f"lab-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _make(
    cache: Cache,
    target: Target,
    mixed: Ingredients,
    name: str,
    default: bool,
    jobs: int,
    report: Report,
    train: make.Train | None,
) -> KernelImage:
    check_machine(cache.folder, target)
    with cache.partial() as partial:
        home, tree = partial / "image", partial / "tree"
        home.mkdir()
        log = home / "build.log"
        report(Stage(f"fetching and unpacking {mixed.source.name}"))
        mixed.source.unpack(tree)
        try:
            fit.prepare(tree, mixed.recipe, mixed.source.name)
            _apply(mixed.changes, tree, mixed.source)
            config = configure(tree, target, mixed.recipe)
            known = cache.records()
            total = known[-1][0].steps if known else target.steps
            steps = make.compile(
                *(tree, target.arch, target.product, jobs, log),
                lambda done: report(Stage("compiling", done, max(done, total))),
            )
        except process.CommandError as error:
            raise _failure(mixed.source, error, log, cache) from error
        (home / "config").write_text(config)
        shutil.copyfile(tree / target.image, home / "linux")
        (home / "linux").chmod(0o755)
        profiled = "" if train is None else _profile(tree, target, mixed.recipe, home, train, jobs, report)
        report(Stage("booting it once"))
        feature.write(home, _tried(target, home / "linux"))
        release = (tree / "include/config/kernel.release").read_text().strip()
        return cache.keep(home, _record(mixed, name, default, home, release, steps, profiled))


def _profile(
    tree: Path, target: Target, ours: recipe.Recipe, home: Path, train: make.Train, jobs: int, report: Report
) -> str:
    """Puts a kernel by a profile in the place of the one without; returns what `Record.profile` says."""
    report(Stage("profiling it, 1 to 3 min"))
    try:
        if not make.compile_again(tree, target.arch, target.product, ours.hot, train, jobs):
            return "none: the source has none of the files to profile"
    except (TestbedError, OSError) as error:  # a full disk, too: the kernel without one is there
        (home / "profile.log").write_text(f"{error}\n")
        return f"none: {str(error).splitlines()[0]}"
    shutil.copyfile(tree / target.image, home / "linux")
    return recipe.TRAINING


def _tried(target: Target, linux: Path) -> Features:
    try:
        return target.try_out(linux)
    except MachineError as error:
        raise MachineError(f"the new {target.called} was not kept: {error.what}", error.fix) from None


def _change(path: Path) -> Patch:
    try:
        return Patch(path.name, path.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"--patch {path}: cannot be read: {error}") from None


def _apply(changes: Sequence[Patch], tree: Path, source: Source) -> None:
    """Applies the user's patches. Raises UserError for one that does not apply exactly."""
    for change in changes:
        try:
            words = ("patch", "-p1", "--force", "--silent", "--fuzz=0", "--no-backup-if-mismatch")
            process.run(words, input=change.text, cwd=tree)
        except process.CommandError:
            raise UserError(
                f"--patch {change.name}: does not fit {source.name}; allowed: what `patch -p1 --fuzz=0` takes there"
            ) from None


def configure(tree: Path, target: Target, ours: recipe.Recipe) -> str:
    """The finished configuration. Raises UserError that names each wanted option that did not survive."""
    make.run(tree, target.arch, "tinyconfig")
    config = tree / ".config"
    config.write_text(config.read_text() + ours.fragment)
    make.run(tree, target.arch, "olddefconfig")
    finished = config.read_text()
    if refused := ours.refused(finished):
        raise UserError(
            f"this kernel source does not accept options that a {target.called} needs: {', '.join(refused)}; "
            f"allowed: {fit.KNOWN}, with the options of kernel/config and kernel/{target.use}/config"
        )
    return finished


def check_machine(folder: Path, target: Target) -> None:
    if platform.machine() != "x86_64":
        raise MachineError(
            f"a {target.called} needs an x86-64 machine, and this is {platform.machine()}",
            "testbed run --set kernel=host …",
        )
    if lacking := package.missing("build"):
        names = [each.name for each in lacking]
        raise MachineError(f"building a kernel needs {', '.join(names)}", package.install_command(names))
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES:
        what = f"building a kernel takes {ROOM_BYTES / 1e9:.0f} GB for a while; {folder} has {free / 1e9:.1f} GB"
        raise MachineError(what, "XDG_CACHE_HOME=/a/larger/disk testbed kernel build")


def compiler_version() -> str:
    """The compiler's own version text; it is one of a kernel's ingredients."""
    return process.run(["gcc", "--version"]).stdout.splitlines()[0]


LAB = Target("lab", "lab kernel (User-Mode Linux)", "um", "linux", "linux", 1540, first_boot.first_features)


def _failure(source: Source, error: process.CommandError, log: Path, cache: Cache) -> TestbedError:
    kept = cache.folder / "failed-build.log"
    kept.write_text(log.read_text() if log.exists() else error.stderr)
    what = f"{source.name} could not be built: {error}\n"
    if isinstance(source, DebianSource):
        return MachineError(what, f"less {kept}")
    return UserError(f"{what}the whole log is in {kept}")


def _record(
    mixed: Ingredients, name: str, default: bool, home: Path, release: str, steps: int, profiled: str
) -> Record:
    return Record(
        name=name,
        key=mixed.key,
        release=release,
        config_hash=hashlib.sha256((home / "config").read_bytes()).hexdigest(),
        is_default=default,
        source=mixed.source.name,
        source_identity=mixed.source.identity,
        recipe_hash=mixed.recipe.sha256,
        patches={patch.name: patch.sha256 for patch in (*mixed.recipe.patches, *mixed.changes)},
        compiler=mixed.compiler,
        built=datetime.now(UTC).isoformat(timespec="seconds"),
        steps=steps,
        profile=profiled,
    )
