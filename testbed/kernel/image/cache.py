"""The lab kernels on this machine: one folder each, complete or absent.

Touches its own folder (`$XDG_CACHE_HOME/testbed/kernels`), and reads those that root keeps for all users. A lock keeps
two builds apart.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ...cache_folder import is_roots, refuse_foreign, shared_folders, user_folder
from ...codec.frozen import dataclass
from ...error import MachineError, one_of
from ..shelf import Shelf
from . import recipe

BUILD_COMMAND = "testbed kernel build"


@dataclass(frozen=True)
class KernelImage:
    """A lab kernel ready to boot: `path` is its executable. A `default` one was built without --source.

    `key` is the hash over all that it was built from, `profile` and `recipe_hash` as in `Record`.
    """

    name: str
    path: Path
    release: str
    config_hash: str
    default: bool
    built: str
    key: str
    profile: str = ""
    recipe_hash: str = ""

    @property
    def is_current(self) -> bool:
        """Whether it was built with the options and patches of this version of the testbed."""
        return self.recipe_hash == recipe.load("lab").sha256

    @property
    def older(self) -> str | None:
        """What it is and what to do, in words, if another version of the testbed built it; else None."""
        if self.is_current:
            return None
        how = BUILD_COMMAND if self.default else f"{BUILD_COMMAND} --name {self.name} with its --source or --patch"
        what = f"the lab kernel {self.name}, built {self.built[:10]}, is not the one of this version of the testbed"
        return f"{what} (other options or patches); what it measures may differ. To build this one, type: {how}"

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


@dataclass(frozen=True)
class Cache(Shelf):
    """The kernels in one folder."""

    record: str = "kernel.json"

    def records(self) -> tuple[tuple[Record, KernelImage], ...]:
        """The kernels in the folder, the one last built, adopted or used at the end.

        A folder without a complete record, or without its kernel, does not count.
        """
        return tuple(pair for home, about in self.things() if (pair := _read(home, about)))

    def installed(self) -> tuple[KernelImage, ...]:
        return tuple(image for _, image in self.records())

    def find(self, name: str | None, recipe_hash: str = "") -> KernelImage:
        """As `found`, in this folder."""
        return found(self.records(), name, recipe_hash)

    def keep(self, made: Path, record: Record) -> KernelImage:
        """Makes a finished folder a kernel of this cache."""
        return _image(record, self.put(made, _name(record), asdict(record)))

    def adopt(self, record: Record, name: str, default: bool) -> KernelImage:
        """The same kernel under another name, or as the default, without building it again."""
        wanted = replace(record, name=name, is_default=default)
        if (self.folder / _name(wanted)).exists():
            return _image(wanted, self.amend(_name(wanted), asdict(wanted)))
        with self.partial() as partial:
            return self.keep(shutil.copytree(self.folder / _name(record), partial / "copy"), wanted)


def _name(record: Record) -> str:
    return f"{record.name}-{record.key[:12]}"


def _read(home: Path, about: Mapping[str, Any]) -> tuple[Record, KernelImage] | None:
    try:
        record = Record(**about)
    except TypeError:
        return None
    image = _image(record, home)
    return (record, image) if os.access(image.path, os.X_OK) else None


def _image(record: Record, home: Path) -> KernelImage:
    return KernelImage(
        name=record.name,
        path=home / "linux",
        release=record.release,
        config_hash=record.config_hash,
        default=record.is_default,
        built=record.built,
        key=record.key,
        profile=record.profile,
        recipe_hash=record.recipe_hash,
    )


def user_cache() -> Cache:
    """The kernels of this user. Raises MachineError if the folder is another user's, who could have put them there."""
    folder = user_folder() / "kernels"
    for each in (folder.parent, folder):
        refuse_foreign(each)
    return Cache(folder)


def shared_caches() -> tuple[Cache, ...]:
    """Folders of kernels that root keeps for all users."""
    return tuple(Cache(folder) for folder in shared_folders("kernels"))


def records() -> tuple[tuple[Record, KernelImage], ...]:
    """The kernels for all users, then those of this user, in either group the one last made or used at the end. Of the
    former, those whose files root alone can have put there.
    """
    for_all = tuple(pair for each in shared_caches() for pair in each.records() if _is_roots(pair[1]))
    return (*for_all, *user_cache().records())


def _is_roots(image: KernelImage) -> bool:
    return all(is_roots(path) and path.is_file() for path in image.folder.iterdir())


def installed() -> tuple[KernelImage, ...]:
    """The kernels that this user can use, as `records`."""
    return tuple(image for _, image in records())


def find(name: str | None) -> KernelImage:
    """The newest lab kernel of a name, one of this user's own before one for all users; None is the default one of this
    testbed's recipe, if it has been built.

    Another checkout's kernel, with other patches, may be in the same cache: it is the default only while ours is not
    there. MachineError when there is none.
    """
    return found(records(), name, recipe.load("lab").sha256)


def found(records: Sequence[tuple[Record, KernelImage]], name: str | None, recipe_hash: str = "") -> KernelImage:
    """The newest kernel of this name; None is the newest default one, of this recipe if there is one.

    MachineError when there is none.
    """
    fitting = [pair for pair in records if (pair[1].default if name is None else pair[1].name == name)]
    ours = [pair for pair in fitting if name is None and pair[0].recipe_hash == recipe_hash]
    if fitting:
        return (ours or fitting)[-1][1]
    if name is None:
        raise MachineError("no lab kernel has been built yet", BUILD_COMMAND)
    have = one_of(sorted({image.name for _, image in records}), name)
    what = f"no lab kernel is called {name!r} (there are: {have})"
    raise MachineError(what, f"{BUILD_COMMAND} --source SOURCE --name {name}")
