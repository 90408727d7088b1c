"""The lab kernels built on this machine: one folder each, complete or absent.

Touches its own folder (`$XDG_CACHE_HOME/testbed/kernels`). A kernel is built in a partial folder and renamed
into place; a lock keeps two builds apart, and a partial folder that nobody holds is removed.
"""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from ...cache_folder import FIX, make, open_lock, try_lock, user_folder
from ...error import MachineError, one_of
from . import recipe

BUILD_COMMAND = "testbed kernel build"


@dataclass(frozen=True)
class KernelImage:
    """A lab kernel ready to boot: `path` is its executable. A `default` one was built without --source.

    `key` is the hash over all that it was built from, `profile` as in `Record`.
    """

    name: str
    path: Path
    release: str
    config_hash: str
    default: bool
    built: str
    key: str
    profile: str = ""

    @property
    def folder(self) -> Path:
        """Also holds its `config`, `build.log` and `kernel.json`."""
        return self.path.parent


@dataclass(frozen=True)
class Record:
    """kernel.json: what a kernel was built from, and when. `key` is the hash over all its ingredients.

    `profile` is the name of the scenario whose trials made its profile, "none: " and why, or "" where none was asked
    for. Trials write the same bytes with and without one, so the key does not depend on it.
    """

    name: str
    key: str
    release: str
    config_hash: str
    is_default: bool
    source: str
    source_identity: str
    recipe_hash: str
    patches: dict[str, str]
    compiler: str
    built: str
    steps: int
    profile: str = ""


class Cache:
    """The kernels in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def records(self) -> tuple[tuple[Record, KernelImage], ...]:
        """The kernels in the folder, the last one built or adopted at the end.

        A folder without a complete record, or without its kernel, does not count.
        """
        files = sorted(self.folder.glob("[!.]*/kernel.json"), key=lambda path: path.stat().st_mtime_ns)
        return tuple(pair for pair in map(self._read, files) if pair)

    def installed(self) -> tuple[KernelImage, ...]:
        return tuple(image for _, image in self.records())

    def find(self, name: str | None, recipe_hash: str = "") -> KernelImage:
        """The newest kernel of this name; None is the newest default one, of this recipe if there is one.

        MachineError when there is none.
        """
        records = self.records()
        fitting = [pair for pair in records if (pair[1].default if name is None else pair[1].name == name)]
        ours = [pair for pair in fitting if name is None and pair[0].recipe_hash == recipe_hash]
        if fitting:
            return (ours or fitting)[-1][1]
        if name is None:
            raise MachineError("no lab kernel has been built yet", BUILD_COMMAND)
        have = one_of(sorted({image.name for _, image in records}), name)
        what = f"no lab kernel is called {name!r} (there are: {have})"
        raise MachineError(what, f"{BUILD_COMMAND} --source SOURCE --name {name}")

    def put(self, partial: Path, record: Record) -> KernelImage:
        """Makes a finished partial folder a kernel of this cache."""
        _write_json(partial / "kernel.json", asdict(record))
        home = self._home(record)
        if home.exists():
            shutil.rmtree(home)
        return self._image(record, partial.rename(home))

    def adopt(self, record: Record, name: str, default: bool) -> KernelImage:
        """The same kernel under another name, or as the default, without building it again."""
        wanted = Record(**{**asdict(record), "name": name, "is_default": default})
        home = self._home(wanted)
        if home.exists():
            _write_json(home / "kernel.json", asdict(wanted))
            return self._image(wanted, home)
        with self.partial() as partial:
            copy = shutil.copytree(self._home(record), partial / "copy")
            return self.put(copy, wanted)

    @contextmanager
    def lock(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Locks the cache; calls `on_wait` once if another build holds the lock, which ends with us, however we end."""
        _make(self.folder)
        try:
            descriptor = open_lock(self.folder / ".lock")
        except OSError as error:
            raise _unwritable(self.folder, error) from error
        with os.fdopen(descriptor, "wb") as file:
            if not try_lock(descriptor):
                on_wait()
                fcntl.flock(file, fcntl.LOCK_EX)
            for left_behind in self.folder.glob(".partial-*"):
                shutil.rmtree(left_behind, ignore_errors=True)
            yield

    @contextmanager
    def partial(self) -> Iterator[Path]:
        """A folder to build in, removed afterwards. Only while the lock is held."""
        partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=self.folder))
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _home(self, record: Record) -> Path:
        return self.folder / f"{record.name}-{record.key[:12]}"

    def _read(self, path: Path) -> tuple[Record, KernelImage] | None:
        try:
            record = Record(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        image = self._image(record, path.parent)
        return (record, image) if os.access(image.path, os.X_OK) else None

    def _image(self, record: Record, home: Path) -> KernelImage:
        return KernelImage(
            name=record.name,
            path=home / "linux",
            release=record.release,
            config_hash=record.config_hash,
            default=record.is_default,
            built=record.built,
            key=record.key,
            profile=record.profile,
        )


def user_cache() -> Cache:
    """The kernels of this user."""
    return Cache(user_folder() / "kernels")


def installed() -> tuple[KernelImage, ...]:
    """The kernels of this user, the newest at the end."""
    return user_cache().installed()


def find(name: str | None) -> KernelImage:
    """The newest lab kernel of a name; None is the default one of this testbed's recipe, if it has been built.

    Another checkout's kernel, with other patches, may be in the same cache: it is the default only while ours is not
    there. MachineError when there is none.
    """
    return user_cache().find(name, recipe.load("lab").sha256)


def _make(folder: Path) -> None:
    try:
        make(folder)
    except OSError as error:
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> MachineError:
    return MachineError(f"the kernel cache {folder} cannot be written ({error.strerror})", FIX)


def _write_json(path: Path, value: dict[str, object]) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(json.dumps(value, indent=2) + "\n")
    fresh.replace(path)
