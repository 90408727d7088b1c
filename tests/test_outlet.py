"""Text of files and of other people's results leaves harmless: a terminal obeys nothing of it, rich takes nothing for
markup, XML and JSON are whole, and Markdown makes nothing of it.
"""

from __future__ import annotations

import html
import io
import json
import re
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from rich.progress import Progress
from storedruns import Made, write_run

from testbed import cli
from testbed.agent import frame
from testbed.cli import screened
from testbed.codec.markup import escaped
from testbed.commands.terminal import Terminal, say
from testbed.commands.text_table import Column, Table, show
from testbed.compare import published
from testbed.error import MachineError, harmless
from testbed.interactive.connection import Exchange
from testbed.report import page
from testbed_reproductions.command import ROWS
from testbed_reproductions.page import Both, markdown
from testbed_reproductions.row import Finding

MARKUP = "[/x] [red] :x: a|b <script>alert(1)</script> ![i](http://x) $\\frac{$ \\"
CONTROLS = "\x1b[31m\x1b]0;title\x07 \x9b31m \u202eevil\u2066 \x7f\r\x00"
NEVER = re.compile(r"[^\n\t\x20-\x7e\u00a1-\U0010ffff]|[\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
READING = (
    ("results", "DIR"),
    ("results", "DIR", "--by", "cell"),
    ("results", "DIR", "--format", "json"),
    ("results", "DIR", "--format", "csv"),
    ("results", "DIR", "--format", "profile"),
    ("compare", "DIR", "OTHER"),
    ("compare", "DIR", "OTHER", "--format", "json"),
    ("compare", "DIR", "OTHER", "--format", "markdown"),
    ("compare", "DIR", "OTHER", "--format", "junit"),
    ("query", "DIR", "SELECT * FROM trials"),
    ("query", "DIR", "SELECT * FROM trials", "--format", "json"),
    ("report", "DIR", "-o", "OUT/report.html"),
    ("plot", "DIR", "profile", "-o", "OUT/profile.svg"),
)
Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Say:
    """Runs a command in this process: its exit code, and the bytes that it wrote as text."""

    def run(*words: str) -> tuple[int, str, str]:
        streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2)]
        with monkeypatch.context() as patched:
            patched.setattr(sys, "argv", ["testbed", *words])
            patched.setattr(sys, "stdout", streams[0])
            patched.setattr(sys, "stderr", streams[1])
            with pytest.raises(SystemExit) as ended:
                cli.main()
        for stream in streams:
            stream.flush()
        out, err = (stream.buffer.getvalue().decode("utf-8", "surrogatepass") for stream in streams)  # type: ignore[attr-defined]
        return int(ended.value.code or 0), out, err

    return run


def change(path: Path, at: tuple[str, ...], value: Any) -> None:
    data = json.loads(path.read_text())
    place = data
    for key in at[:-1]:
        place = place[key]
    place[at[-1]] = value
    path.write_text(json.dumps(data))


def hostile(folder: Path, scale: float = 1.0) -> Path:
    """A run in which a value of an axis, the scenario's name, the texts of findings and of a failure are hostile."""
    made = [
        Made({"path.rtt": "10 ms", "congestion": name}, [scale * (40e6 + 1e5 * seed)], seed=seed)
        for name in (MARKUP, "cubic")
        for seed in (1, 2, 3)
    ]
    made = [replace(each, changes={"id": f"t{at}"}, data={"id": f"t{at}"}) for at, each in enumerate(made)]
    write_run(folder, [_Named(**vars(each)) for each in made])
    for path in sorted(folder.glob("trials/*/result.json")):
        finding = {"verdict": "suspect", "check": "spread", "text": MARKUP, "hint": "look at [/x]"}
        change(path, ("findings",), [finding])
        change(path, ("verdict",), "suspect")
    return folder


class _Named(Made):
    @property
    def id(self) -> str:
        return str(self.changes["id"])


@pytest.fixture
def sides(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "out").mkdir()
    return {
        "DIR": str(hostile(tmp_path / "[/x] a")),
        "OTHER": str(hostile(tmp_path / "b[/x]", 0.5)),
        "OUT": str(tmp_path / "out"),
    }


def given(words: tuple[str, ...], sides: dict[str, str]) -> list[str]:
    return [sides.get(word, word.replace("OUT", sides["OUT"])) for word in words]


def unescaped(markdown: str) -> list[str]:
    """What in it a reader of Markdown would take for HTML, a link or an image."""
    return re.findall(r"<[A-Za-z/!?]|(?<!\\)\]\(", markdown)


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_markup_in_results_is_text(asked: Say, sides: dict[str, str], words: tuple[str, ...]) -> None:
    code, out, err = asked(*given(words, sides))
    assert code in (0, 1, 5), err
    assert not NEVER.search(out + err)
    if words[0] in ("results", "compare") and "profile" not in words:
        assert "[/x] [red] :x: a" in out.replace("\\\\", "\\")
    if "json" in words:
        assert MARKUP in json.dumps(json.loads(out), ensure_ascii=False).replace("\\\\", "\\")
    if "junit" in words:
        assert MARKUP in "".join(value for each in ElementTree.fromstring(out).iter() for value in each.attrib.values())
    if "markdown" in words:
        assert not unescaped(out)
        rows = [line for line in out.splitlines() if line.startswith("|")]
        assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) for row in rows}) == 1
    for file in Path(sides["OUT"]).glob("*.html"):
        assert "<script>alert(1)" not in file.read_text()


@pytest.mark.parametrize("part", ["run.json", "failure", "finding", "param"])
@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_control_characters_in_results_reach_no_terminal(
    asked: Say, sides: dict[str, str], words: tuple[str, ...], part: str
) -> None:
    for side in (Path(sides["DIR"]), Path(sides["OTHER"])):
        if part == "run.json":
            change(side / "run.json", ("scenario",), CONTROLS)
        elif part == "failure":
            ids = json.loads((side / "run.json").read_text())["trials"]
            change(side / "run.json", ("trials",), [*ids, "gone"])
            (side / "failed" / "gone").mkdir(parents=True)
            (side / "failed" / "gone" / "error.txt").write_text(CONTROLS)
        for path in sorted(side.glob("trials/*/result.json"))[:1]:
            if part == "finding":
                change(path, ("findings",), [{"verdict": "suspect", "check": "c", "text": CONTROLS, "hint": CONTROLS}])
            elif part == "param":
                change(path, ("params", "congestion"), CONTROLS)
                change(path.parent / "trial.json", ("params", "congestion"), CONTROLS)
    code, out, err = asked(*given(words, sides))
    assert code in (0, 1, 2, 4, 5), err
    assert not NEVER.search(out + err)
    if "json" in words and out:
        json.loads(out)
    if "junit" in words and out:
        ElementTree.fromstring(out)


NAMES = ("[/x]", "\x1b[31mred", "\udcff\udcfe", "\u202egpj", "a\x9bb")
ASKING = (
    "check FILE",
    "plan FILE",
    "results FILE",
    "report FILE",
    "run FILE --dry-run",
    "compare FILE FILE",
    "up FILE",
    "status FILE",
    "exec FILE -- true",
    "exec -n FILE node -- true",
    "shell FILE",
    "down FILE",
    "merge FILE -o FILE",
    "audit FILE",
    "query FILE FILE",
    "plot FILE profile -o FILE",
    "doctor --same-as FILE",
    "machines prepare FILE",
    "schema FILE",
    "FILE",
)


@pytest.mark.parametrize("name", NAMES, ids=ascii)
@pytest.mark.parametrize("words", ASKING)
def test_names_of_files_are_said_and_not_obeyed(asked: Say, tmp_path: Path, words: str, name: str) -> None:
    """Of files that there are and that there are not."""
    file = tmp_path / f"{name}.yaml"
    for text in (None, "name: x\nnodes: {a: host, b: host}\nlinks: {path: {between: [a, b], rate: 1 Mbit/s}}\n"):
        if text is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        code, out, err = asked(*(word.replace("FILE", str(file)) for word in words.split(" ")))
        assert code in (0, 1, 2, 3), err
        assert not NEVER.search(out + err)


LINES = "gone\nresults: fine\x1b[31m\u202e\x9b"


@pytest.mark.parametrize("at", [("trials",), ("scenario",), ("axes",), ("primary",)], ids=str)
@pytest.mark.parametrize(
    "words", [*READING, ("merge", "DIR", "OTHER", "-o", "OUT/all"), ("audit", "DIR")], ids=" ".join
)
def test_a_name_in_a_run_says_no_line_of_its_own(
    asked: Say, sides: dict[str, str], words: tuple[str, ...], at: tuple[str, ...]
) -> None:
    for side in ("DIR", "OTHER"):  # without one it would be no run to merge
        change(Path(sides[side]) / "run.json", ("key",), "k")
    file = Path(sides["DIR"]) / "run.json"
    before = json.loads(file.read_text()).get(at[0])
    change(file, at, [*(before or []), LINES] if at[0] in ("trials", "axes") else LINES)
    code, out, err = asked(*given(words, sides))
    assert code == 2
    assert not out
    assert "run.json is damaged: it has a name with a control character: gone\\nresults: fine\\x1b[31m" in err
    assert not NEVER.search(err)


def test_a_merge_says_names_of_files_in_one_line(asked: Say, sides: dict[str, str], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for number, folder in enumerate(folders):
        write_run(folder, [Made({"path.rtt": "10 ms"}, [40e6])])
        (trial,) = (folder / "trials").iterdir()
        (trial / LINES).write_text(str(number))
        change(trial / "host.json", ("computer",), LINES)
        software = {"software": {"parts": {LINES: f"{LINES}{number}"}}}
        (trial / "provenance.json").write_text(json.dumps(software))
        for name, value in (("key", "k"), ("shards", [LINES])):
            change(folder / "run.json", (name,), value)
    code, out, err = asked("merge", *map(str, folders), "-o", str(tmp_path / "all"))
    assert code in (1, 2), err
    assert not NEVER.search(out + err)
    assert "\nresults: fine" not in out + err


@pytest.mark.parametrize("key", ["date", "computer", "trials"])
@pytest.mark.parametrize("value", [LINES, None, 3, [3], [{"id": "../.."}]], ids=ascii)
def test_an_audit_that_nobody_made_is_said(asked: Say, sides: dict[str, str], key: str, value: Any) -> None:
    made = {"date": "2026-01-01", "computer": "c", "seed": 1, "finished": 6, "left_out": 0, "trials": []}
    (Path(sides["DIR"]) / "audit.json").write_text(json.dumps({"audits": [{**made, key: value}]}))
    for words in (("results", "DIR"), ("report", "DIR", "-o", "OUT/report.html")):
        code, out, err = asked(*given(words, sides))
        assert code in (0, 1, 2), err
        assert code != 2 or "audit.json is damaged" in err
        assert not NEVER.search(out + err)
        assert "\nresults: fine" not in out + err


@pytest.mark.parametrize("text", [CONTROLS, LINES, MARKUP, "\udcff", "</script><script>alert(1)</script>"], ids=ascii)
def test_a_page_holds_text_that_is_seen(text: str) -> None:
    """The data of the page, of the live page and its heading, as a browser reads it."""
    view = {"run": {"name": text}, text: [text, {"deep": (text, 1.5, None)}]}
    for live in (False, True):
        whole = page.page(view, live)
        whole.encode()
        found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', whole, re.DOTALL)
        assert found is not None
        read = json.loads(found[1])
        shown = harmless(text)
        assert read == {"run": {"name": shown}, shown: [shown, {"deep": [shown, 1.5, None]}]}
        assert f"<title>{html.escape(shown)}: report</title>" in whole


def test_a_mistake_of_ours_says_nothing_that_a_terminal_obeys(
    asked: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*words: Any, **settings: Any) -> None:
        raise ValueError(CONTROLS)

    monkeypatch.setattr("testbed.sweep.store.Store.open", fail)
    code, out, err = asked("results", str(tmp_path))
    assert code == 70
    assert "Traceback" in err
    assert "\\u001b[31m" in err
    assert not NEVER.search(out + err)


HOSTILE_SPECS = {
    "name": 'name: "\\e[31m\\u202E[/x]"\nnodes: {a: host}\n',
    "node": 'name: n\nnodes: {"\\e[31m[/x]": host}\n',
    "key": 'name: n\n"\\e[31m[/x]": 3\n',
    "scenario": 'name: "\\x9B[/x]"\ntopology: dumbbell\n',
}


@pytest.mark.parametrize("spec", HOSTILE_SPECS)
def test_errors_in_specs_are_said_and_not_obeyed(asked: Say, tmp_path: Path, spec: str) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(HOSTILE_SPECS[spec])
    code, out, err = asked("check", str(file))
    assert code == 2
    assert "[/x]" in out + err
    assert not NEVER.search(out + err)


def test_a_terminal_gets_our_colours_and_none_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is one, in a table, in a line and above a bar."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    with screened():
        console = Terminal()
        say(console, ("failed", "red"), f" {CONTROLS}{MARKUP}")
        console.print(f"{CONTROLS}{MARKUP}", soft_wrap=True)
        show(Table((Column("a"), Column("b")), ((CONTROLS, MARKUP), ("bad", "y")), colours={"bad": "red"}).lines(None))
        print(f"{CONTROLS}{MARKUP}")
    text = stream.getvalue()
    assert text.count("\x1b[31m") == 2
    assert not NEVER.search(re.sub("\x1b\\[(31|0)m", "", text))
    assert text.count(MARKUP) == 4


def test_a_bar_is_drawn_while_lines_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own commands to the terminal go through, those of a text that is printed meanwhile do not."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    with screened(), Progress(console=Terminal(), auto_refresh=False) as bar:
        bar.add_task("[red]1[/] \x1b]0;t\x07", total=2)
        bar.refresh()
        print("\x9b31m\u202e")
    text = stream.getvalue()
    assert "\x1b[2K" in text
    assert not re.search("[\x07\x9b\u202e]|\x1b\\]", text)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_a_locale_lacks_is_printed_all_the_same(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    with screened():
        print("… \udcff")
        Terminal(error=False).print("…")
    stream.flush()
    assert stream.buffer.getvalue() == b"\\u2026 \\udcff\n\\u2026\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "written"),
    [("a\tb\nc – é …", "a\tb\nc – é …"), ("\x1b\x9b\r", "\\u001b\\u009b\\u000d"), ("\U000e0001", "\\udb40\\udc01")],
)
def test_json_stays_json(text: str, written: str) -> None:
    assert harmless(text) == written
    whole = json.dumps({text: text}, ensure_ascii=False)
    assert json.loads(harmless(whole)) == {text: text}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("&lt;b&#62; & R&D", "&amp;lt;b&amp;#62; & R&D"),
        ("![a](b) [c][d] [e]: f", "![a\\](b) [c\\]\\[d] [e\\]: f"),
        ("`<b>` a`|`", "\\`&lt;b>\\` a\\`\\|\\`"),
        ("[0, 1] \x1b\u202e", "[0, 1] \\\\x1b\\\\u202e"),
    ],
)
def test_markdown_makes_nothing_of_it(text: str, written: str) -> None:
    assert escaped(text) == written


def test_a_page_of_reproductions_is_text() -> None:
    row = replace(ROWS[0], what="<script>a|b</script>", where="![i](x)", limits="<img src=x>")
    citations = {name: published.find(name)[0].citation for name in published.names()}
    cited = replace(citations[row.source], title="<b>\n# t")
    found = Finding(row, None, "<i>")
    page = markdown([Both(found, found)], {**citations, row.source: cited}, "")
    assert not unescaped(page)
    assert "\n# t\n" not in page


@pytest.mark.parametrize("is_text", [True, False])
def test_what_a_node_logs_is_text_and_what_its_programs_write_is_theirs(
    is_text: bool, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Also where a letter comes in two pieces."""
    said = f"{CONTROLS}é\n".encode() + b"\xff"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        exchange = Exchange(cast(Any, None), ours, -1, is_text)
        for at in range(len(said)):
            theirs.sendall(frame.pack(0, frame.OUTPUT, said[at : at + 1]))
            exchange.hear()
    out, _ = capfdbinary.readouterr()
    assert out == (f"{harmless(CONTROLS)}é\n\\xff".encode() if is_text else said)


@pytest.mark.parametrize("payload", [b"", b"x" * 3, b"x" * 9])
@pytest.mark.parametrize("kind", [frame.ENDED, frame.TAKEN])
def test_a_guest_that_ends_a_session_with_nonsense_is_an_error(kind: int, payload: bytes) -> None:
    class Network:
        name = "wan"

    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(frame.pack(0, kind, payload))
        with pytest.raises(MachineError, match="wan said what makes no sense"):
            Exchange(cast(Any, Network), ours, -1).hear()
