"""Frames: the messages between the agent and its clients, over one channel of bytes. Pure, no I/O.

A frame is the number of a session (4 bytes, 0 is the agent itself), a kind (1 byte), a length (2 bytes), and as many
bytes.  A side sends at most WINDOW_BYTES of input or output for a session before the other acknowledges them, so that
nobody in between has to buffer more.
"""

from __future__ import annotations

import struct

MYPY = False
if MYPY:
    from collections.abc import Iterator

HEAD = struct.Struct("!IBH")
PAYLOAD_MAX = 16384
WINDOW_BYTES = 131072
CHANNEL_BYTES = 3072
"""The most bytes on the way to the agent and not yet read. A terminal line of User-Mode Linux stops its sender at 3 968
bytes and then never resumes.
"""
COUNT = struct.Struct("!I")
SIZE = struct.Struct("!HH")
STATUS = struct.Struct("!i")

# From a client:
OPEN = 1  # JSON: what to do
INPUT = 2  # bytes for its standard input
END_OF_INPUT = 3
RESIZE = 4  # SIZE: rows and columns of the terminal
SIGNAL = 5  # COUNT: the number of a signal
CLOSE = 6  # the client has gone
QUIT = 7  # session 0: end
# From the agent:
OUTPUT = 16
ERRORS = 17  # its standard error
ENDED = 18  # STATUS: its exit status, negative if a signal ended it
REFUSED = 19  # text: why the session cannot start
HEARD = 22  # session 0, COUNT: bytes of the channel that were read
READY = 20  # session 0: all steps are done
DIED = 21  # session 0, text: a program of the network has ended
STARTED = 23  # session 0, text: a program of the network that had ended has started anew
# From either side:
TAKEN = 32  # COUNT: bytes acknowledged


def pack(session: int, kind: int, payload: bytes = b"") -> bytes:
    return HEAD.pack(session, kind, len(payload)) + payload


class Reader:
    """Cuts a stream of bytes into frames; pieces may end anywhere."""

    def __init__(self) -> None:
        self.unread = b""

    def feed(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """The frames (session, kind, payload) that are complete now."""
        self.unread += data
        at = 0
        while len(self.unread) - at >= HEAD.size:
            session, kind, length = HEAD.unpack_from(self.unread, at)
            if len(self.unread) - at - HEAD.size < length:
                break
            at += HEAD.size + length
            yield session, kind, self.unread[at - length : at]
        self.unread = self.unread[at:]
