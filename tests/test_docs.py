"""Links between the pages of the documentation lead somewhere, the index names every page, and the commands exist."""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import typer.main

from testbed import cli
from testbed.commands import help_page

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


APP: Any = typer.main.get_command(cli.app)
BLOCK = re.compile(r"^ *```(?:sh|console|bash)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(?:sudo )?(testbed [^`]+)`")
COMMAND = re.compile(r"(?:^|[;&|(]|\bsudo |\btime |\$ )\s*(testbed [^;&|)\n]*)")
LABELS = {"testbed sources"}
"""Words that commands print."""
OWN = {"exec": 1, "shell": 1, "mininet": 1}
"""Commands that take the words of another program: how many of their own stand before these at least."""


def shown(page: Path) -> Iterator[str]:
    """The commands of ours in a page: in blocks for a shell, and in the text."""
    text = page.read_text()
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            yield from COMMAND.findall(line.split(" #")[0])
    for each in INLINE.findall(BLOCK.sub("", text)):
        if each not in LABELS:
            yield " ".join(each.split())


def unknown(line: str) -> str | None:
    """The first word of a command that it does not know; None if it knows all."""
    if line.count("'") % 2:  # the words of another language, such as SQL, with a parenthesis
        line = line.partition("'")[0]
    words = shlex.split(line.replace("…", " "))[1:]
    command, name = APP, ""
    while words and isinstance(command, help_page.Group) and not words[0].startswith("-"):
        name, *words = words
        if not name.islower():
            return None  # as in `testbed COMMAND --help`
        found = command.get_command(command.make_context("testbed", [], resilient_parsing=True), name)
        if found is None:
            return name
        command = found
    if name in OWN:
        words = list(takewhile(lambda word: word.startswith("-"), words))
        words = words[: words.index("--")] if "--" in words else words
    options = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
    written = [word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
    return next((word for word in written if word not in options), None)


def test_every_command_that_a_page_shows_exists_with_its_options() -> None:
    lines = {(page, line) for page in PAGES if page.parent.name != "decisions" for line in shown(page)}
    assert len(lines) > 300
    wrong = [f"{page.relative_to(ROOT)}: {line}: {word}" for page, line in sorted(lines) if (word := unknown(line))]
    assert wrong == []


def test_commands_that_do_not_exist_are_found() -> None:
    assert unknown("testbed frobnicate x") == "frobnicate"
    assert unknown("testbed kernel frobnicate") == "frobnicate"
    assert unknown("testbed run quickstart --frobnicate=3") == "--frobnicate"
    assert unknown("testbed run quickstart -o results/x --jobs 2") is None
    assert unknown("testbed exec a -- ls --all") is None
