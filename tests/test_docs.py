"""Links between the pages of the documentation lead somewhere, and the index names every page."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md"))])
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")


def anchors(page: Path) -> set[str]:
    """Those of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken(page: Path) -> Iterator[str]:
    for link in LINK.findall(page.read_text()):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if ELSEWHERE.match(link):
            continue
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            yield f"{page.relative_to(ROOT)}: {link}"


def test_every_link_leads_to_a_page_and_a_heading() -> None:
    assert len(PAGES) > 30
    assert not [each for page in PAGES for each in broken(page)]


def test_the_index_names_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    named = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(index.read_text())}
    pages = {page for page in PAGES if page.is_relative_to(index.parent) and page.parent.name != "decisions"}
    assert not pages - named - {index}
