"""The files that come with the testbed, for tests that look at all of them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]


def scenarios(root: Path = ROOT) -> list[Path]:
    """All of them, those of regressions too."""
    return sorted((root / "scenarios").rglob("*.yaml"))


def page(section: str, kind: str) -> str:
    """The code of this kind in a section of docs/extending.md."""
    whole = (ROOT / "docs" / "extending.md").read_text()
    text = whole.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return "\n\n".join(part.partition("```")[0] for part in text.split(f"```{kind}\n")[1:])
