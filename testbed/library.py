"""What comes with the testbed: published profiles, topologies, and scenarios with two sizes. Pure, no I/O.

In a checkout the three folders stand beside the package, and links lead there; an installed package holds them.
"""

from __future__ import annotations

from pathlib import Path

_LIBRARY = Path(__file__).with_name("_library")
PROFILES, SCENARIOS, TOPOLOGIES = (_LIBRARY / kind for kind in ("profiles", "scenarios", "topologies"))
