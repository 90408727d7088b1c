"""The library that comes with the testbed: published profiles, topologies, scenarios, exercises. Looks whether files
exist.

In a checkout the four folders are beside the package, behind links; an installed package contains them.
"""

from __future__ import annotations

import os
from pathlib import Path

from .error import did_you_mean, nearest

_LIBRARY = Path(__file__).with_name("_library")
PROFILES, SCENARIOS, TOPOLOGIES, EXERCISES = (
    _LIBRARY / kind for kind in ("profiles", "scenarios", "topologies", "exercises")
)


def spec_file(path: Path, folder: Path = Path(), kinds: tuple[Path, ...] = (SCENARIOS, TOPOLOGIES)) -> Path:
    """A file that exists, or else what comes with the testbed under this name, of these kinds; the path as it is where
    neither is there. A path is from a folder.
    """
    file = folder / path
    if os.path.isfile(file) or path.suffix or path.is_absolute() or ".." in path.parts:
        return file
    named = (kind / f"{path}.yaml" for kind in kinds)
    return next((ours for ours in named if os.path.exists(ours)), file)


def is_ours(path: str | Path) -> bool:
    """Whether a file comes with the testbed, wherever links lead."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(folder.resolve()) for folder in (SCENARIOS, TOPOLOGIES))


def did_you_mean_file(written: str, asking: str = "") -> str:
    """The end of a sentence that names the scenario or topology of ours, or the file, which a path that does not exist
    probably means; empty if there is none. It is not the file `asking`, which names the path.
    """
    ours = names(SCENARIOS, TOPOLOGIES)
    named = "" if Path(written).suffix or written in ours else did_you_mean(written, ours)
    return named or did_you_mean_path(Path(written), Path(asking))


def names(*folders: Path) -> list[str]:
    """Of the files that come with the testbed, as people write them; those in folders come last."""
    found = [
        path.relative_to(folder).with_suffix("").as_posix() for folder in folders for path in folder.rglob("*.yaml")
    ]
    return sorted(found, key=lambda name: (name.count("/"), name))


def did_you_mean_path(path: Path, asking: Path = Path()) -> str:
    """The same among files and folders: each part of the path that does not exist gives way to one like it."""
    found = Path(path.anchor)
    for part in path.parts[1:] if path.anchor else path.parts:
        if not (found / part).exists():
            try:
                near = nearest(part, [entry.name for entry in found.iterdir() if entry != asking])
            except OSError:
                near = None
            if near is None:
                return ""
            part = near
        found /= part
    return f" (did you mean {str(found)!r}?)" if found != path else ""
