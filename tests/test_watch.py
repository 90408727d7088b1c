"""The live page of running networks: what it asks for and shows, its terminals, and whom it refuses."""

from __future__ import annotations

import base64
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from interactive import Home
from patience import PATIENCE_S, wait_for
from test_report_browser import CHROMIUM, FLAGS

from testbed.browser import layered
from testbed.browser.server import CONNECTIONS_MAX, Answer, Asked, LocalServer
from testbed.codec.keyed import read
from testbed.commands.network.watch import over_ssh
from testbed.interactive import node_files
from testbed.interactive.watch import page as page_module
from testbed.interactive.watch import terminals
from testbed.interactive.watch.flow_table import parsed
from testbed.interactive.watch.page import ASSETS, VENDORED
from testbed.interactive.watch.picture import drawn
from testbed.interactive.watch.site import ANSWERS, Watch
from testbed.interactive.watch.terminal import Text
from testbed.library import spec_file
from testbed.model.topology import Topology
from testbed.spec.load import load_topology
from testbed.spec.topology.file import TopologyFile

NET = """
name: net
nodes: {a: {type: host}, s1: {type: ovs, controller: c0}, b: {type: host}, c0: {type: controller, app: learning-switch}}
links:
  left: {ends: [a, s1], rate: 100 kbit/s, rtt: 2 ms, buffer: 100 packets}
  right: {ends: [s1, b]}
"""
SENDS = "while :; do for each in {1..90}; do printf %01000d 0 >/dev/udp/10.0.0.2/9; done; sleep 1; done"

FLOWS = """\
 cookie=0x0, duration=5.1s, table=0, n_packets=7, n_bytes=490, idle_timeout=10, priority=1,in_port=1 actions=output:2
 cookie=0x5, duration=1s, table=0, n_packets=2, n_bytes=98, send_flow_rem priority=9,tcp,tp_dst=80 actions=drop
 cookie=0x0, duration=9.25s, table=1, n_packets=0, n_bytes=0, priority=0 actions=CONTROLLER:65535
 cookie=0x0, duration=3s, table=0, n_packets=0, n_bytes=0, idle_age=3, in_port=2 actions=set_field:1->reg0,output:1
OFPST_FLOW reply (OF1.3) (xid=0x2):
"""


def test_flows_are_read_in_the_order_in_which_a_switch_looks_at_them() -> None:
    rows = parsed(FLOWS)
    assert [(row["table"], row["priority"], row["match"]) for row in rows] == [
        (0, 32768, "in_port=2"),
        (0, 9, "tcp,tp_dst=80"),
        (0, 1, "in_port=1"),
        (1, 0, ""),
    ]
    assert (rows[2]["packets"], rows[2]["bytes"], rows[2]["age_s"], rows[2]["actions"]) == (7, 490, 5.1, "output:2")
    assert rows[0]["actions"] == "set_field:1->reg0,output:1"


def test_what_a_switch_does_not_say_is_no_zero() -> None:
    (row,) = parsed(" cookie=0x0, priority=1 actions=drop")
    assert (row["packets"], row["bytes"], row["age_s"]) == (None, None, None)


def test_output_is_kept_until_it_has_been_fetched() -> None:
    text = Text(threading.Condition())
    text.add(b"hello ")
    text.add(b"you")
    assert [text.drop(at) for at in (0, 6, 3)] == [0, 6, 0]
    assert (text.start, bytes(text.waiting), text.drop(99), text.start) == (6, b"you", 3, 9)


def test_the_terminal_of_others_is_the_one_that_is_said_with_its_licence() -> None:
    import hashlib

    told = (ASSETS / "vendor/README.md").read_text()
    for name in (*VENDORED, "vendor/xterm.css"):
        assert hashlib.sha256((ASSETS / name).read_bytes()).hexdigest() in told
    licences = [path.read_text() for path in (ASSETS / "vendor").glob("LICENSE.*")]
    assert len(licences) == 2
    assert all("Permission is hereby granted, free of charge" in text for text in licences)


@pytest.fixture
def served() -> Iterator[tuple[LocalServer, list[Asked]]]:
    """A server of nothing, and what got through to it."""
    heard: list[Asked] = []

    def site(asked: Asked) -> Answer:
        heard.append(asked)
        return Answer("application/json", "{}")

    with LocalServer(site, "testbed watch") as server:
        yield server, heard


def test_who_has_no_token_pushes_nobody_out() -> None:
    """The answer to a request with the token comes, however many connect meanwhile."""
    asked, go_on = threading.Event(), threading.Event()

    def site(_: Asked) -> Answer:
        asked.set()
        assert go_on.wait(PATIENCE_S)
        return Answer("application/json", "{}")

    with LocalServer(site, "testbed watch") as server, ExitStack() as idle:
        client = idle.enter_context(socket.create_connection(("127.0.0.1", server.server_port)))
        client.sendall(f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        assert asked.wait(PATIENCE_S)
        others = [
            idle.enter_context(socket.create_connection(("127.0.0.1", server.server_port)))
            for _ in range(3 * CONNECTIONS_MAX)
        ]
        assert others[0].recv(1) == b""  # was pushed out by its like
        go_on.set()
        assert client.recv(4096).split()[1] == b"200"


def test_a_terminal_that_nobody_asks_for_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []

    class Silent:
        def __init__(self, network: object, node: str, size: object, news: threading.Condition) -> None:
            self.text = Text(news)
            self.closed = threading.Event()
            made.append(self)

        def close(self) -> None:
            self.closed.set()

    monkeypatch.setattr(terminals, "NodeTerminal", Silent)
    monkeypatch.setattr(terminals, "FORGOTTEN_S", 0.0)
    monkeypatch.setattr(terminals, "LOOK_S", 0.01)
    opened = terminals.Terminals()
    network: Any = type("Network", (), {"where": lambda self, node: {"netns": "tb-a"}})()
    opened.open(network, "a", 24, 80)
    assert made[0].closed.wait(PATIENCE_S)
    opened.close_all()


@pytest.mark.parametrize("path", [path for _, path in ANSWERS])
@pytest.mark.parametrize("token", ["", "x", "I0tj0Pq6CQGPt46QcKqLbg"])
def test_who_has_no_token_gets_no_terminal(served: tuple[LocalServer, list[Asked]], path: str, token: str) -> None:
    server, heard = served
    for body in (None, b"{}"):
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(f"http://127.0.0.1:{server.server_port}/{token}/{path}", data=body))
        refused.value.close()
        assert refused.value.code == 403
    assert heard == []


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1"}, 403),
        ({"Content-Length": "99999999999"}, 413),
        ({"Content-Length": "65537"}, 413),
        ({"Content-Length": "-1"}, 413),
        ({"Content-Length": "½"}, 413),
        ({"Content-Length": "x"}, 413),
    ],
)
def test_other_sites_cannot_type(served: tuple[LocalServer, list[Asked]], headers: dict[str, str], code: int) -> None:
    server, heard = served
    host = f"127.0.0.1:{server.server_port}"
    lines = "".join(f"{key}: {value}\r\n" for key, value in ({"Host": host, "Content-Length": "2"} | headers).items())
    with socket.create_connection(("127.0.0.1", server.server_port)) as client:
        client.sendall(f"POST /{server.token}/input HTTP/1.1\r\n{lines}\r\n{{}}".encode("latin-1"))
        assert client.recv(4096).split()[1] == str(code).encode()
    assert heard == []


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost:8123"])
def test_a_port_that_ssh_forwards_is_as_good_as_ours(served: tuple[LocalServer, list[Asked]], host: str) -> None:
    """The browser's computer may have given the page another port; its own pages at other ports stay outside."""
    server, heard = served
    for origin, code in ((f"http://{host}", b"200"), ("http://localhost:1", b"403"), (f"http://x{host}", b"403")):
        lines = f"Host: {host}\r\nOrigin: {origin}\r\nContent-Length: 2\r\n\r\n{{}}"
        with socket.create_connection(("127.0.0.1", server.server_port)) as client:
            client.sendall(f"POST /{server.token}/input HTTP/1.1\r\n{lines}".encode())
            assert client.recv(4096).split()[1] == code
    assert len(heard) == 1


def test_who_came_by_ssh_is_told_what_to_type_at_home() -> None:
    assert over_ssh(8123, {}) == ()
    environment = {"SSH_CONNECTION": "192.0.2.7 5555 192.0.2.1 22", "USER": "kim"}
    assert over_ssh(8123, environment)[-1] == "  ssh -N -L 8123:localhost:8123 kim@192.0.2.1"
    environment |= {"SSH_CONNECTION": "192.0.2.7 5555 192.0.2.1 2222"}
    assert over_ssh(8123, environment)[-1] == "  ssh -N -p 2222 -L 8123:localhost:8123 kim@192.0.2.1"


def test_a_request_that_is_cut_off_does_nothing(served: tuple[LocalServer, list[Asked]]) -> None:
    server, heard = served
    with socket.create_connection(("127.0.0.1", server.server_port)) as client:
        head = (
            f"POST /{server.token}/input HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nContent-Length: 9\r\n\r\n"
        )
        client.sendall(head.encode() + b"rm -r")
        client.shutdown(socket.SHUT_WR)
        assert client.recv(4096) == b""
    assert heard == []


@pytest.mark.parametrize(
    ("path", "query", "body"),
    [
        ("open", {}, b""),
        ("open", {}, b"[]"),
        ("open", {}, b'{"network": "nix"}'),
        ("open", {}, b"[" * 5000),
        ("input", {}, b"x"),
        ("input", {"terminal": "-1"}, b"x"),
        ("input", {"terminal": "9" * 40}, b"x"),
        ("size", {}, b'{"terminal": 1, "rows": "x", "columns": 3}'),
        ("output", {}, b'{"1": -1}'),
        ("output", {}, b'{"x": 1}'),
    ],
)
def test_what_no_page_sends_is_refused(
    path: str, query: dict[str, str], body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    answer = Watch(None).answer(Asked("POST", path, query, body))
    assert answer is not None
    assert "allowed" in json.loads(answer.text)["error"] or "is up" in json.loads(answer.text)["error"]


def test_only_what_the_page_asks_for_is_there() -> None:
    shown = Watch(None)
    for method, path in (("GET", "open"), ("POST", "state"), ("GET", "../state"), ("GET", "x"), ("POST", "")):
        assert shown.answer(Asked(method, path, {}, b"")) is None


def test_without_a_network_it_says_so(tmp_path: Path) -> None:
    home = Home.at(tmp_path)
    for words in ((), ("net",)):
        done = home.run("watch", *words)
        assert (done.returncode, b"testbed up" in done.stderr) == (3, True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = Home.at(tmp_path_factory.mktemp("home"))
    (made.folder / "net.yaml").write_text(NET)
    made.says("up", made.folder / "net.yaml", "--kernel", "lab-realtime")
    yield made
    made.run("down", "net")
    left = made.left()
    made.clean()
    assert left == []


@pytest.fixture
def watched(home: Home) -> Iterator[str]:
    """The address that `testbed watch` prints; Ctrl-C is the way out."""
    # Whoever has the tests run in the background of a shell ignores SIGINT, and so would this.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(home.words("watch"), env=home.env, cwd=home.folder, preexec_fn=listen, **streams)
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, said) == (0, "")


def post(url: str, path: str, body: object) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with urlopen(Request(url + path, data=data)) as answer:
        return json.loads(answer.read())


def get(url: str, path: str) -> Any:
    with urlopen(url + path) as answer:
        return json.loads(answer.read())


def said_by(url: str, terminal: int, enough: Callable[[bytes], bool], said: bytes = b"") -> bytes:
    """What a terminal says after what it has said, until that is enough; and why it ended, if it did."""
    while not enough(said):
        told = post(url, "output", {str(terminal): len(said)})
        for each in told.values():
            assert each["at"] <= len(said)
            said = said[: each["at"]] + base64.b64decode(each["data"])
            if each["ended"] is not None:
                return said + b"[" + each["ended"].encode() + b"]"
    return said


@pytest.mark.lab
def test_a_terminal_is_a_shell_in_its_node_and_passes_everything_on(home: Home, watched: str) -> None:
    number = post(watched, "open", {"network": "net", "node": "a", "rows": 30, "columns": 91})["terminal"]
    assert post(watched, f"input?terminal={number}", b"stty size; echo $TESTBED_NODE-$TERM\n") == {"taken": True}
    said = said_by(watched, number, lambda said: b"a-xterm-256color\r\n" in said)
    assert b"30 91\r\na-xterm-256color\r\n" in said
    post(watched, "size", {"terminal": number, "rows": 40, "columns": 100})
    post(watched, f"input?terminal={number}", b"stty size; seq 60000; exit\n")
    said = said_by(watched, number, lambda said: False, said)  # more than the window of a session
    assert b"40 100\r\n" in said
    assert b"".join(b"%d\r\n" % n for n in range(1, 60001)) in said
    assert said.endswith(b"[the shell has ended]")


@pytest.mark.lab
def test_a_closed_terminal_ends_its_programs(home: Home, watched: str) -> None:
    number = post(watched, "open", {"network": "net", "node": "a", "rows": 30, "columns": 91})["terminal"]
    post(watched, f"input?terminal={number}", b"exec sleep 54321\n")
    home.says("exec", "a", "--", "sh", "-c", "until pgrep -x sleep; do sleep 0.1; done")
    post(watched, f"close?terminal={number}", b"")
    home.says("exec", "a", "--", "sh", "-c", "while pgrep -x sleep -r S,R; do :; done")
    assert post(watched, "output", {str(number): 0})[str(number)]["ended"] == "this terminal has ended"


@pytest.mark.lab
def test_it_tells_what_waits_in_queues_and_what_has_left_them(home: Home, watched: str) -> None:
    """Datagrams of 1 042 bytes, each of which takes 83 ms to leave at 100 kbit/s: they go on until they have been seen
    to wait.
    """
    home.says("exec", "a", "--", "ping", "-c", "1", "-W", "60", "10.0.0.2")
    told: dict[str, Any] = {}

    def wait() -> bool:
        told.update(get(watched, "state?network=net"))
        return bool(told["overview"]["links"][0]["seen"]["forward"]["queue"]["packets"] > 5)

    words = home.words("exec", "a", "--", "bash", "-c", SENDS)
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(words, env=home.env, cwd=home.folder, **quiet) as sending:
        try:
            wait_for(wait, "a queue")
        finally:
            sending.terminate()
    left, right = told["overview"]["links"]
    assert left["seen"]["forward"]["queue"]["bytes"] > 5000
    assert left["seen"]["forward"]["left"]["bytes"] < left["seen"]["forward"]["bytes"]
    assert left["seen"]["backward"]["queue"] == {"packets": 0, "bytes": 0}
    assert "queue" not in right["seen"]["forward"]
    assert told["overview"]["clock_s"] > 0
    assert get(watched, "state")["picture"] == told["picture"]

    def counted() -> bool:
        rows = get(watched, "flows?network=net&node=s1")["rows"]
        return any("actions" in row and row["packets"] for row in rows)

    wait_for(counted, "a flow with packets, which a switch tells of a while later")
    for node in ("a", "nix"):
        assert "error" in get(watched, f"flows?network=net&node={node}")


@pytest.mark.lab
def test_a_port_that_is_taken_is_said(home: Home, watched: str) -> None:
    port = watched.split(":")[2].split("/")[0]
    done = home.run("watch", "net", "--port", port)
    assert (done.returncode, b"cannot be opened: Address already in use" in done.stderr) == (2, True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS, timeout=1000 * PATIENCE_S)
        yield chromium
        chromium.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """A page of 1280 × 720 whose console must stay empty, and which must talk to nobody else."""
    opened = browser.new_page(viewport={"width": 1280, "height": 720})
    opened.set_default_timeout(1000 * PATIENCE_S)
    wrong: list[str] = []
    opened.on("console", lambda said: wrong.append(said.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    opened.close()
    assert wrong == []
    assert all(url.startswith(("data:", "blob:", "http://127.0.0.1:")) for url in asked)


@pytest.mark.lab
@pytest.mark.slow
def test_in_a_browser_packets_move_and_a_click_opens_a_terminal(home: Home, watched: str, tab: Any) -> None:
    tab.goto(watched)
    tab.wait_for_selector("body[data-ready]")
    assert tab.locator(".node").count() == 4
    tab.locator('.node[aria-label="terminal in a"]').click()
    tab.wait_for_selector(".xterm-screen")
    tab.locator(".xterm-rows", has_text="a:").wait_for()
    tab.keyboard.type("ping -i 0.1 b\n")  # it goes on, however late the page looks
    tab.locator(".xterm-rows", has_text="icmp_seq=3").wait_for()
    tab.wait_for_selector(".way.forward.moving", state="attached")
    tab.wait_for_selector(".way.backward.moving", state="attached")
    tab.locator("#panel", has_text="kbit/s").wait_for()
    tab.locator("#show-flows").click()
    tab.wait_for_selector("table[aria-label=Flows] tr.more")
    tab.locator('button[aria-label="close the terminal in a"]').click()
    assert not tab.locator("#dock").is_visible()
    home.says("exec", "a", "--", "sh", "-c", "while pgrep -x ping -r S,R; do :; done")


@pytest.mark.lab
@pytest.mark.slow
def test_in_a_browser_ports_have_numbers_and_names_and_a_click_pulls_a_cable(
    home: Home, watched: str, tab: Any
) -> None:
    home.says("exec", "a", "--", "ping", "-c", "2", "-W", "60", "b")
    tab.goto(watched)
    tab.wait_for_selector("body[data-ready]")
    assert sorted(tab.locator("text.port").all_text_contents()) == ["1", "2"]
    assert sorted(tab.locator("text.address").all_text_contents()) == ["10.0.0.1/24", "10.0.0.2/24"]
    tab.locator("#show-nodes").click()
    nodes = tab.locator("table[aria-label=Nodes] tr").all_text_contents()
    assert "a: hosteth010.0.0.1/24s1left" in nodes
    assert {"s1: ovs1eth0aleft", "2eth1bright"} <= set(nodes)
    tab.locator("#show-flows").click()
    tab.locator("table[aria-label=Flows]", has_text="output:2 (b)").wait_for()
    tab.locator("#show-log").click()
    tab.locator("pre.log", has_text="=== started ").wait_for()
    tab.locator("#show-links").click()
    home.says("exec", "a", "--", "ping", "-c", "8", "-i", "0.5", "-W", "60", "b")
    tab.locator('svg[aria-label="rates of left in the last minute"] path.forward').wait_for(state="attached")
    for link in ("left", "right"):  # with an emulator, and without
        tab.locator(f'button[aria-label="pull out the cable {link}"]').click()
        tab.locator(f'button[aria-label="put in the cable {link}"]').wait_for()
        assert home.run("exec", "a", "--", "ping", "-c", "1", "-W", "1", "b").returncode == 1
        tab.locator("path.cable.down").click(force=True)
        tab.locator(f'button[aria-label="pull out the cable {link}"]').wait_for()
        home.says("exec", "a", "--", "sh", "-c", "until ping -c 1 -W 1 b; do :; done")


CLOSED = 8
GOES = "end=$(($(date +%s) + 20)); while pgrep -x sleep -r S,R; do [ $(date +%s) -lt $end ] || exit 1; done"
"""Whether a program ends within 20 s; nobody would miss its page for 300 s."""


@pytest.mark.lab
@pytest.mark.slow
def test_a_terminal_ends_with_its_page(home: Home, watched: str, tab: Any) -> None:
    """Its program is gone long before anybody would miss the page. A browser gives a page half a second to say that it
    goes, which on a busy computer may be too short: then another one is closed.
    """
    for _ in range(CLOSED):
        other = tab.context.browser.new_page()
        other.set_default_timeout(1000 * PATIENCE_S)
        other.goto(watched)
        other.wait_for_selector("body[data-ready]")
        other.locator('.node[aria-label="terminal in b"]').click()
        other.locator(".xterm-rows", has_text="b:").wait_for()
        other.keyboard.type("exec sleep 54322\n")
        home.says("exec", "b", "--", "sh", "-c", "until pgrep -x sleep -r S,R; do sleep 0.1; done")
        other.close()
        if home.run("exec", "b", "--", "sh", "-c", GOES).returncode == 0:
            return
        home.says("exec", "b", "--", "pkill", "-x", "sleep")
    pytest.fail(f"a program outlived each of {CLOSED} pages")


HOSTILE = '<img src=x onerror="document.title=1">'


def hostile_state() -> dict[str, Any]:
    """Twenty nodes in a ring whose names, links and events are markup."""
    names = [f"{n}{HOSTILE}" for n in range(20)]
    way = {"packets": 1, "bytes": 1, "left": {"packets": 1, "bytes": 1}, "queue": {"packets": 1, "bytes": 1}}
    links = [
        {"name": f"l{n}</script>{HOSTILE}", "ends": [{"node": names[n]}, {"node": names[n - 1]}],
         "asked": {HOSTILE: {HOSTILE: HOSTILE}}, "seen": {"forward": way, "backward": way, "drops": 3}}
        for n in range(20)
    ]  # fmt: skip
    mark = {"shape": "diamond", "colour": "green"}
    return {
        "networks": [HOSTILE, "x"],
        "only": None,
        "shown": HOSTILE,
        "overview": {
            "name": HOSTILE, "topology": HOSTILE, "kernel": HOSTILE, "since": "2026-01-01T00:00:00+00:00",
            "memory_bytes": 1, "events": [HOSTILE], "clock_s": 1.0, "links": links,
            "nodes": {name: {"type": "ovs"} for name in names},
        },
        "picture": {
            "spots": [{"name": name, "type": HOSTILE, "x": n % 5, "y": n // 5, "mark": mark}
                      for n, name in enumerate(names)],
            "lines": [{"name": link["name"], "ends": [end["node"] for end in link["ends"]], "bend": 0.0,
                       "is_emulated": True} for link in links],
            "controls": [],
        },
    }  # fmt: skip


def answering(answers: Mapping[str, Any]) -> Callable[[Asked], Answer | None]:
    """The page, and what it is told of by path."""

    def site(asked: Asked) -> Answer | None:
        if asked.path == "":
            return Watch(None).answer(asked)
        return Answer("application/json", json.dumps(answers.get(asked.path, {})))

    return site


@pytest.mark.slow
def test_markup_in_names_is_text(tab: Any) -> None:
    flows = {"switch": HOSTILE, "total": 1, "rows": [{"table": 0, "priority": 1, "packets": 1, "match": HOSTILE,
             "actions": HOSTILE}]}  # fmt: skip
    shown = base64.b64encode(HOSTILE.encode()).decode()
    answers = {
        "state": hostile_state(),
        "flows": flows,
        "open": {"terminal": 1},
        "output": {"1": {"at": 0, "data": shown, "ended": HOSTILE}},
    }
    with LocalServer(answering(answers), "testbed watch") as server:
        tab.goto(server.url)
        tab.wait_for_selector("body[data-ready]")
        assert tab.locator(".node").count() == 20
        tab.locator(".node").first.click()
        tab.locator(".xterm-rows", has_text="onerror").wait_for()
        tab.locator("#show-flows").click()
        tab.wait_for_selector("table[aria-label=Flows]")
        assert tab.locator("img").count() == 0
        assert HOSTILE in tab.title()
        tab.goto("about:blank")  # before the server goes: the page asks it until then


def test_the_page_runs_no_script_but_its_own() -> None:
    answer = Watch(None).answer(Asked("GET", "", {}, b""))
    other = Watch(None).answer(Asked("GET", "", {}, b""))
    assert answer is not None
    assert other is not None
    policy = answer.headers["Content-Security-Policy"]
    assert policy != other.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in policy.split("style-src")[0]
    assert "default-src 'none'" in policy
    assert answer.text.count("<script") == answer.text.count('<script nonce="') + page_text_mentions(answer.text)
    assert node_files.SHELL[0] == "sh"


def page_text_mentions(text: str) -> int:
    """How often the vendored scripts speak of scripts."""
    return sum((page_module.ASSETS / name).read_text().count("<script") for name in VENDORED)


@pytest.mark.lab
def test_no_other_process_sees_the_token(home: Home, watched: str) -> None:
    token = watched.rstrip("/").rpartition("/")[2].encode()
    assert len(token) >= 22
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and int(each.name) != os.getpid():
            try:
                assert token not in (each / "cmdline").read_bytes()
            except OSError:
                continue
    for path in home.folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 10**6:
            assert token not in path.read_bytes()


def wired(pairs: list[tuple[str, str]], switches: str = "s") -> Topology:
    """Hosts, and switches, whose names begin with one of these letters, joined by these links."""
    names = dict.fromkeys(name for pair in pairs for name in pair)
    nodes = {name: {"type": "switch" if name[0] in switches else "host"} for name in names}
    links = {f"l{number}": {"ends": list(pair)} for number, pair in enumerate(pairs)}
    return load_file({"name": "drawn", "nodes": nodes, "links": links})


def load_file(data: dict[str, Any]) -> Topology:
    file = read(TopologyFile, data)
    return file.topology()


TREE = [*((f"s{n // 3}", f"h{n}") for n in range(24)), *(("sx" if n < 4 else "sy", f"s{n}") for n in range(8))]
RING = [(f"s{n}", f"s{(n + 1) % 8}") for n in range(8)]
SHAPES: dict[str, Callable[[], Topology]] = {
    "fat-tree": lambda: load_topology(spec_file(Path("fat-tree"))),
    "wan": lambda: load_topology(spec_file(Path("wan"))),
    "line": lambda: wired([("a", "s0"), *((f"s{n}", f"s{n + 1}") for n in range(8)), ("s8", "b")]),
    "star": lambda: wired([("s", f"host-{n}") for n in range(12)]),
    "ring": lambda: wired([(f"s{n}", f"s{(n + 1) % 10}") for n in range(10)]),
    "tree": lambda: wired([*TREE, ("sz", "sx"), ("sz", "sy")]),
    "forty": lambda: wired([*((f"s{n // 4}", f"host-{n}") for n in range(32)), *RING]),
}
ROWS = {
    "fat-tree": ["core", "agg", "edge", "host"],
    "tree": ["sz", "sx sy", " ".join(f"s{n}" for n in range(8)), "h"],
}
"""What is in each row, from above: beginnings of names."""
LOOK = """() => {
  const box = (element) => {
    const at = element.getBoundingClientRect();
    return [at.left, at.top, at.right, at.bottom];
  };
  const nodes = [...document.querySelectorAll(".node")];
  const name = (node) => node.getAttribute("aria-label").replace("terminal in ", "");
  const texts = [...document.querySelectorAll("svg text")].filter((each) =>
    each.textContent && getComputedStyle(each).visibility === "visible");
  return { nodes: nodes.map((each) => [name(each), box(each.firstChild)]),
    texts: texts.map((each) => [each.textContent, box(each)]),
    hidden: document.querySelectorAll("svg text.name.hid").length };
}"""

Box = tuple[str, tuple[float, float, float, float]]


def over(boxes: list[Box], others: list[Box]) -> list[tuple[str, str]]:
    """The pairs of which one lies over the other, by more than a pixel."""
    return [
        (one, other)
        for number, (one, a) in enumerate(boxes)
        for other, b in (others[:number] if others is boxes else others)
        if min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1
    ]


def drawn_state(topology: Topology) -> dict[str, Any]:
    """What the page asks for, of a network in which nothing moves."""
    still = {"packets": 0, "bytes": 0, "left": {"packets": 0, "bytes": 0}, "queue": {"packets": 0, "bytes": 0}}
    links = [
        {"name": link.name, "ends": [{"node": end} for end in link.ends], "asked": {},
         "seen": {"forward": still, "backward": still, "drops": 0}}
        for link in topology.links
    ]  # fmt: skip
    overview = {"name": "drawn", "topology": "drawn", "kernel": "lab", "since": "2026-01-01T00:00:00+00:00",
                "memory_bytes": 1, "events": [], "clock_s": 1.0, "links": links,
                "nodes": {node.name: {"type": node.type} for node in topology.nodes}}  # fmt: skip
    return {"networks": ["drawn"], "only": None, "shown": "drawn", "overview": overview, "picture": drawn(topology)}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_nodes_and_names_do_not_lie_over_one_another(shape: str, tab: Any, tmp_path: Path) -> None:
    topology = SHAPES[shape]()
    answers = {"state": drawn_state(topology)}
    folder = Path(os.environ.get("TESTBED_SCREENSHOTS", tmp_path))
    with LocalServer(answering(answers), "testbed watch") as server:
        for width, theme in ((1280, "light"), (800, "dark")):
            tab.set_viewport_size({"width": width, "height": 720})
            tab.emulate_media(color_scheme=theme)
            tab.goto(server.url)
            tab.wait_for_selector("body[data-ready]")
            seen = tab.evaluate(LOOK)
            tab.screenshot(path=folder / f"{shape}-{width}.png")
            assert len(seen["nodes"]) == len(topology.nodes)
            assert over(seen["nodes"], seen["nodes"]) == []
            assert over(seen["texts"], seen["texts"]) == []
            assert seen["hidden"] + len(seen["texts"]) >= len(topology.nodes)
            for above, below in pairwise(ROWS.get(shape, [])):
                assert lowest(seen["nodes"], above) < highest(seen["nodes"], below)
            if seen["hidden"]:
                tab.locator(".node:has(text.name.hid) > :first-child").first.hover()
                assert len(tab.evaluate(LOOK)["texts"]) == len(seen["texts"]) + 1
        tab.goto("about:blank")  # before the server goes: the page asks it until then


def lowest(nodes: list[Box], names: str) -> float:
    return max(box[3] for name, box in nodes if name.startswith(tuple(names.split())))


def highest(nodes: list[Box], names: str) -> float:
    return min(box[1] for name, box in nodes if name.startswith(tuple(names.split())))


def test_layers_are_found_where_there_are_some() -> None:
    fat = load_topology(spec_file(Path("fat-tree")))
    rows: dict[float, set[str]] = {}
    for spot in drawn(fat)["spots"]:
        rows.setdefault(spot["y"], set()).add(spot["name"].split("-")[0])
    assert [rows[y] for y in sorted(rows)] == [{"c0"}, {"core"}, {"agg"}, {"edge"}, {"host"}]
    order = [spot["name"] for spot in sorted(drawn(fat)["spots"], key=lambda spot: spot["x"]) if "host" in spot["name"]]
    assert order == sorted(order)
    assert layered.layers(3, [(0, 1), (1, 2), (2, 0)], [0]) is None  # a ring
    assert layered.layers(4, [(0, 1), (0, 2), (0, 3)], [1, 2, 3]) is None  # a star
    assert layered.layers(4, [(0, 1), (1, 2)], [0]) is None  # nothing leads to a node
    assert layered.layers(3, [(0, 1), (1, 2)], [0]) == (0, 1, 2)
