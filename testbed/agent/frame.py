"""What goes through the one byte channel between the agent and those who talk with it: frames. Pure, no I/O.

A frame is the number of a session (4 bytes, 0 is the agent itself), a kind (1 byte), a length (2 bytes), and as many
bytes.  What one side sends of input or output without hearing that it was taken is at most WINDOW_BYTES for each
session, so that nobody in between has to keep more.
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
"""What may be on its way to the agent and not yet read: a terminal line of User-Mode Linux that had to stop its sender
once, at 3 968 bytes, never hears from it again.
"""
COUNT = struct.Struct("!I")
SIZE = struct.Struct("!HH")
STATUS = struct.Struct("!i")

# From those who talk with the agent:
OPEN = 1  # JSON: what to do
INPUT = 2  # bytes for its standard input
END_OF_INPUT = 3
RESIZE = 4  # SIZE: rows and columns of the terminal
SIGNAL = 5  # COUNT: the number of a signal
CLOSE = 6  # nobody listens any more
QUIT = 7  # session 0: end
# From the agent:
OUTPUT = 16
ERRORS = 17  # what it wrote to standard error
ENDED = 18  # STATUS: its exit status, negative if a signal ended it
REFUSED = 19  # text: why there is no session
HEARD = 22  # session 0, COUNT: so many bytes of the channel itself were read
READY = 20  # session 0: all steps are done
DIED = 21  # session 0, text: a program that should run on has ended
# From both:
TAKEN = 32  # COUNT: so many bytes were taken on


def pack(session: int, kind: int, payload: bytes = b"") -> bytes:
    return HEAD.pack(session, kind, len(payload)) + payload


class Reader:
    """Cuts a stream of bytes into frames, wherever it was broken up."""

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
