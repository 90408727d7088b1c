"""The library that comes with the testbed: published profiles, topologies, scenarios. Looks whether files exist.

In a checkout the three folders are beside the package, behind links; an installed package contains them.
"""

from __future__ import annotations

from pathlib import Path

_LIBRARY = Path(__file__).with_name("_library")
PROFILES, SCENARIOS, TOPOLOGIES = (_LIBRARY / kind for kind in ("profiles", "scenarios", "topologies"))


def spec_file(path: Path) -> Path:
    """A file that exists, or else the scenario or topology of this name that comes with the testbed; the path as it is
    where neither is there.
    """
    if path.is_file() or path.name != str(path) or path.suffix:
        return path
    named = (folder / f"{path}.yaml" for folder in (SCENARIOS, TOPOLOGIES))
    return next((file for file in named if file.exists()), path)
