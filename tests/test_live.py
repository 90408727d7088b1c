"""The page of --live: who holds connections, knows no token or comes from another site gets and blocks nothing."""

from __future__ import annotations

import os
import resource
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from patience import PATIENCE_S, wait_for
from storedruns import write_run
from test_report import TWO

from testbed.browser import server as module
from testbed.browser.server import CONNECTIONS_MAX, Answer, Asked, LocalServer
from testbed.report import live as live_module
from testbed.report.live import Live
from testbed.sweep.store import Store


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with Live(Store(write_run(tmp_path / "run", TWO[:1])), 2) as running:
        yield running
        running._asked_at = -100.0


def port(live: Live) -> int:
    return urlsplit(live.url).port or 0


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Each client costs the test one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if wanted < 2500:
        pytest.skip(f"this user may have {hard} descriptors")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
@pytest.mark.parametrize("begun", [b"", b"GET ", b"GET / HTTP/1.1\r\nHost: "], ids=["silent", "begun", "half"])
def test_a_thousand_idle_connections_take_a_handful_of_descriptors_and_the_page_is_still_served(
    live: Live, begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They used up the descriptors of the run, and every later trial failed."""
    monkeypatch.setattr(module.Handler, "timeout", 10 * PATIENCE_S)  # none is ended because it is silent
    before = len(os.listdir("/proc/self/fd"))
    idle = []
    try:
        for _ in range(1000):
            client = socket.create_connection(("127.0.0.1", port(live)))
            idle.append(client)
            with suppress(OSError):  # it may have been ended for others already
                client.sendall(begun)
        assert b"1 of 2" not in urlopen(live.url + "progress").read()
        backlog = 16
        most = before + len(idle) + CONNECTIONS_MAX + backlog
        wait_for(lambda: len(os.listdir("/proc/self/fd")) <= most, "the end of all connections but a handful")
    finally:
        for client in idle:
            client.close()


def test_a_connection_that_says_nothing_is_ended(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Handler, "timeout", 0.05)
    with socket.create_connection(("127.0.0.1", port(live))) as client:
        assert client.recv(1) == b""
    with socket.create_connection(("127.0.0.1", port(live))) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert client.recv(1) == b""


@pytest.mark.parametrize("path", ["", "data.json", "progress", "x/data.json", "../data.json", "%00/"])
def test_without_the_token_nothing_is_told(live: Live, path: str) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(f"http://127.0.0.1:{port(live)}/{path}")
    assert refused.value.code == 403
    assert TWO[0].id not in refused.value.read().decode()


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, {"Host": ""}]
)
def test_pages_of_other_sites_are_told_nothing(live: Live, headers: dict[str, str]) -> None:
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(live.url + "data.json", headers=headers))
    assert refused.value.code == 403
    own = Request(live.url + "data.json", headers={"Origin": f"http://127.0.0.1:{port(live)}"})
    assert urlopen(own).status == 200


def test_two_runs_have_different_tokens_that_cannot_be_guessed(tmp_path: Path, live: Live) -> None:
    with Live(Store(write_run(tmp_path / "other", TWO[:1])), 2) as other:
        assert urlsplit(other.url).path != urlsplit(live.url).path
        assert len(urlsplit(other.url).path) >= 22


def test_the_end_of_a_run_is_news_to_a_page_that_has_seen_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it fetches nothing more, and the run waits for that as long as it may."""
    monkeypatch.setattr(live_module, "GOODBYE_S", 0.0)
    running, seen = Live(Store(write_run(tmp_path / "run", TWO[:1])), 1), []

    def keep(path: Path, text: str) -> None:
        seen.append(running.progress())

    monkeypatch.setattr(live_module, "write_text", keep)
    with running:
        pass
    (before,) = seen
    after = running.progress()
    assert (before["ended"], after["ended"]) == (False, True)
    assert before["version"] != after["version"]


def test_a_run_goes_when_the_last_state_has_been_sent_and_not_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "GOODBYE_S", 0.0)
    running = Live(Store(write_run(tmp_path / "run", TWO[:1])), 1)
    asked = {path: Asked("GET", path, {}, b"") for path in ("progress", "data.json")}
    first = running._answer(asked["data.json"])
    with running:
        pass
    progress, last = (running._answer(each) for each in asked.values())
    assert first is not None
    assert progress is not None
    assert last is not None
    assert (first.sent, progress.sent) == (None, None)
    assert not running._fetched.is_set()
    assert last.sent is not None
    last.sent()
    assert running._fetched.is_set()


def test_who_answers_is_told_when_all_has_been_sent() -> None:
    sent = threading.Event()
    text = "x" * (64 << 20)  # more than what waits on the way
    with LocalServer(lambda _: Answer("text/plain", text, sent=sent.set), "testbed run") as server:
        with urlopen(server.url) as answer:
            assert not sent.is_set()
            assert len(answer.read()) == len(text)
        assert sent.wait(PATIENCE_S)


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_a_new_results_folder_is_its_users_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with Store(tmp_path / "a" / "run").ours():
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "run").stat().st_mode) == 0o700


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_under_sudo_it_belongs_to_the_user_who_typed_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", "4321")
    monkeypatch.setenv("SUDO_GID", "4322")
    with Store(tmp_path / "run").ours():
        pass
    about = (tmp_path / "run").stat()
    assert (about.st_uid, about.st_gid, stat.S_IMODE(about.st_mode)) == (4321, 4322, 0o700)
