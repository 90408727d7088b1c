"""curl with our library that gathers an answer in large parts, on the loopback of this computer: it gets the same, and
does not look for each packet.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from patience import PATIENCE_S

from testbed.native_program import SOURCES, tools

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

PIECE, PIECES = 1448, 300
BODY = os.urandom(PIECE * PIECES)
OK = b"HTTP/1.1 200 OK\r\n"


def told(body: bytes, name: bytes = b"Content-Length") -> bytes:
    return OK + b"Server: x\r\n" + name + b": %d\r\n\r\n" % len(body)


@dataclass(frozen=True)
class Got:
    status: int
    said: str
    body: bytes
    complained: str


@contextmanager
def served(*connections: list[list[bytes]], apart_s: float = 0.001, resets: bool = False) -> Iterator[str]:
    """A server: for each connection its answers, each in pieces that leave `apart_s` apart; then it ends."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            for answers in connections:
                connection, _ = listening.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with connection:
                    for answer in answers:
                        connection.recv(4096)
                        for piece in answer:
                            connection.sendall(piece)
                            time.sleep(apart_s)
                    if resets:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join(PATIENCE_S)


def curl(folder: Path, *words: str, whole: bool = True, before: str = "", stopped: bool = False) -> Got:
    """`before` is a library that curl calls first. `stopped` curl is again and again, and goes on after a while."""
    environment = {**os.environ, "LD_PRELOAD": f"{before} {tools().folder / 'whole.so' if whole else ''}"}
    command = ["curl", "-q", "-s", "-m", f"{PATIENCE_S:.0f}", "--noproxy", "*", "-w", "%{size_download} ", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, cwd=folder) as process:
        while stopped and process.poll() is None:
            for each in (signal.SIGSTOP, signal.SIGCONT):
                process.send_signal(each)
                time.sleep(0.005)
        said, complained = process.communicate(timeout=2 * PATIENCE_S)
    found = sorted(folder.glob("got*"))
    return Got(process.returncode, said.strip(), b"".join(path.read_bytes() for path in found), complained)


def pieces(data: bytes, size: int = PIECE) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


LOOKS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>

static int looks;

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	looks++;
	return ((int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll"))(fds, count, timeout);
}

__attribute__((destructor)) static void say(void)
{
	fprintf(stderr, "%d looks\n", looks);
}
"""
"""How often a program looks whether there is something to read."""


def test_it_does_not_look_for_each_packet(tmp_path: Path) -> None:
    """300 pieces, for each of which curl looks once or more; a read has room for some 100 kB. Pieces that come while a
    busy computer lets curl wait come together: then they are sent further apart.
    """
    (tmp_path / "looks.c").write_text(LOOKS)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", "looks.so", "looks.c", "-ldl"], cwd=tmp_path, check=True)
    looks = {}
    for apart_s in (0.001, 0.01, 0.1):
        for whole in (False, True):
            with served([[told(BODY), *pieces(BODY)]], apart_s=apart_s) as url:
                got = curl(tmp_path, "-o", "got", url, whole=whole, before=str(tmp_path / "looks.so"))
            assert (got.status, got.said, got.body) == (0, str(len(BODY)), BODY)
            looks[whole] = int(got.complained.removesuffix(" looks\n"))
        assert looks[True] < PIECES / 3
        if looks[False] > PIECES / 3:
            break
    assert looks[False] > PIECES / 3


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        ([told(b"x") + b"x"], b"x"),
        ([told(b"")], b""),
        ([told(BODY) + BODY[:500], *pieces(BODY[500:], 5000)], BODY),
        ([told(BODY, b"content-length"), *pieces(BODY, 50_000)], BODY),
        ([*pieces(told(BODY), 7), BODY], BODY),
        ([OK + b"X: Content-Length: 9999999\r\n\r\n", *pieces(BODY, 50_000)], BODY),
        ([OK + b"\r\n", b"X: 1\r\nContent-Length: 999\r\n\r\n", b"x"], b"X: 1\r\nContent-Length: 999\r\n\r\nx"),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nabc", b"de\r\n", b"0\r\n\r\n"], b"abcde"),
    ],
    ids=["byte", "empty", "with-the-header", "small-letters", "header-in-parts", "no-length", "in-the-body", "chunked"],
)
def test_it_gets_what_curl_gets(tmp_path: Path, answer: list[bytes], body: bytes) -> None:
    """Whether the connection is closed after it or not."""
    for whole in (True, False):
        with served([answer]) as url:
            got = curl(tmp_path, "-o", "got", url, whole=whole)
        assert (got.status, got.said, got.body) == (0, str(len(body)), body)


def test_a_connection_that_is_kept(tmp_path: Path) -> None:
    """The second answer is smaller than what is read of the first; curl does not wait for more than it has."""
    answers = [[told(BODY), *pieces(BODY, 40_000)], [told(b"ab") + b"ab"], [told(BODY), BODY]]
    with served(answers) as url:
        got = curl(tmp_path, *(word for name in "123" for word in ("-o", f"got{name}", url)))
    assert (got.status, got.body) == (0, BODY + b"ab" + BODY)
    assert got.said.split() == [str(len(BODY)), "2", str(len(BODY))]


def test_a_server_that_ends_early_is_told(tmp_path: Path) -> None:
    """18: what was announced did not come."""
    for whole in (True, False):
        with served([[told(BODY), BODY[:100_000]]]) as url:
            got = curl(tmp_path, "-o", "got", url, whole=whole)
        assert (got.status, got.said) == (18, "100000")


@pytest.mark.parametrize("more", [0, 3 * PIECE])
def test_a_server_that_resets_is_told(tmp_path: Path, more: int) -> None:
    """56: the connection was reset. `more` bytes come in a part of their own, and curl has them before it is told."""
    answer = [told(BODY) + BODY[:1000], BODY[1000 : 1000 + more]]
    with served([answer], apart_s=0.2, resets=True) as url:
        got = curl(tmp_path, "-o", "got", url)
    assert (got.status, got.said) == (56, str(1000 + more))


def test_what_came_before_a_reset_is_read_before_it_is_told(tmp_path: Path) -> None:
    """The answer is in the kernel as a whole, and the reset, too, while curl reads the first of its small parts."""
    body = BODY[:50_000]
    for whole in (True, False):
        with served([[told(body) + body]], apart_s=0, resets=True) as url:
            got = curl(tmp_path, "--limit-rate", "20000", "-o", "got", url, whole=whole)
        assert (got.status, got.said, got.body) == (0, str(len(body)), body)


def test_a_client_that_is_stopped_goes_on(tmp_path: Path) -> None:
    """A signal ends a read of the kernel's, which is no error."""
    with served([[told(BODY), *pieces(BODY)]]) as url:
        got = curl(tmp_path, "-o", "got", url, stopped=True)
    assert (got.status, got.said, got.body) == (0, str(len(BODY)), BODY)


AT_THE_END = r"""
#include "whole.c"
#include <stdio.h>
#include <sys/mman.h>

int main(void)
{
	static char text[4096];
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t got = fread(text, 1, sizeof text, stdin);

	mprotect(pages + 4096, 4096, PROT_NONE);
	printf("%llu", announced(memcpy(pages + 4096 - got, text, got), got));
}
"""
"""What an answer announces; whoever reads beyond it dies."""


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (b"Content-Length: 7\r\n\r\n", 7),
        (b"content-length:\t7 \r\n\r\n12345", 2),
        (b"Content-Length: \r\n\r\n", 0),
        (b"Content-Length: \r\n\r\n12345678", 0),
        (b"Content-Length: -1\r\n\r\n", 0),
        (b"Content-Length: x\r\n\r\n", 0),
        (b"Content-Length: 18446744073709551616\r\n\r\n", 2**64 - 1),
        (b"Content-Lengt\r\n\r\n", 0),
        (b"Content-Length: 7\r\n\r", 0),
    ],
)
def test_it_reads_no_further_than_what_came(tmp_path: Path, text: bytes, length: int) -> None:
    """A number that curl refuses announces nothing, and one too large an answer that never ends."""
    (tmp_path / "end.c").write_text(AT_THE_END)
    subprocess.run(["gcc", "-I", SOURCES, "-o", "end", "end.c", "-ldl"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "end"], input=OK + text, capture_output=True, check=True)
    assert int(done.stdout) == length


TWO = r"""
#include "whole.c"
#include <stdio.h>

int main(void)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
	static const char body[] = "abcdefghi", other[] = "other";
	char data[100], text[sizeof body] = "";
	int one[2], two[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, one);
	socketpair(AF_UNIX, SOCK_STREAM, 0, two);
	send(one[1], answer, sizeof answer - 1, 0);
	recv(one[0], data, sizeof data, 0);
	send(one[1], body, sizeof body - 1, 0);
	for (size_t got = 0, room = 2; got < 9; room = 9 - got < 2 ? 9 - got : 2) {
		got += recv(one[0], text + got, room, 0);
		send(two[1], other, sizeof other - 1, 0);
		if (recv(two[0], data, sizeof data, 0) != sizeof other - 1 || memcmp(data, other, sizeof other - 1))
			return 1;
	}
	fputs(text, stdout);
}
"""
"""Reads another connection after each part of an answer."""


def test_what_is_kept_stays_while_another_connection_is_read(tmp_path: Path) -> None:
    (tmp_path / "two.c").write_text(TWO)
    subprocess.run(["gcc", "-I", SOURCES, "-o", "two", "two.c", "-ldl"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "two"], capture_output=True, check=True, timeout=PATIENCE_S)
    assert done.stdout == b"abcdefghi"
