"""Which reader a file is for, by its content: the name of a file says nothing. Reads files."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

from ...spec.syntax import input_file
from ..measurement import Reading, refused
from . import capture, flent, iperf3, mahimahi, ndt7, ping, table
from .plausible import refuse_impossible

FILE_BYTES = 1 << 30
TEXT_BYTES = 256 << 20
GZIP = b"\x1f\x8b"

TEXTS: tuple[tuple[Callable[[str], bool], Callable[[str, str], Reading]], ...] = (
    (flent.is_it, flent.read),
    (ndt7.is_it, ndt7.read),
    (iperf3.is_it, iperf3.read),
    (table.is_it, table.read),
    (ping.is_it, ping.read),
)
ALLOWED = (
    "ping's output, iperf3 --json, .flent.gz, ndt7-client -format json, a pcap, a trace of Mahimahi, or a table with "
    "time_s, rate_mbps, rtt_ms, loss"
)


def read(path: Path) -> Reading:
    """Raises SpecError, with file and line, for a file that is none of them, is damaged, or tells the impossible."""
    return refuse_impossible(_read(path))


def _read(path: Path) -> Reading:
    file = str(path)
    try:
        data = input_file.read(path, FILE_BYTES)
    except OSError as error:
        raise refused(file, None, error.strerror or str(error), ALLOWED) from None
    if not data:
        raise refused(file, None, "the file is empty", ALLOWED)
    if capture.is_it(data):
        return capture.read(file, data)
    text = _text(file, data)
    if mahimahi.is_it(text):
        return mahimahi.read(file, path)
    for is_it, read_it in TEXTS:
        if is_it(text):
            return read_it(file, text)
    first = next((n for n, line in enumerate(text.splitlines(), 1) if line.strip()), 1)
    if text.lstrip().startswith("{"):
        raise refused(file, first, "this JSON is of no known tool, or is cut short", ALLOWED)
    raise refused(file, first, "this is no measurement that can be read", ALLOWED)


def _text(file: str, data: bytes) -> str:
    if data[:2] == GZIP:
        try:
            inflater = zlib.decompressobj(wbits=31)
            data = inflater.decompress(data, TEXT_BYTES)
            if inflater.unconsumed_tail:
                raise refused(file, None, "it is too large when it is unpacked", f"up to {TEXT_BYTES >> 20} MiB")
            if not inflater.eof:
                raise refused(file, None, "the gzip file is cut short", "a whole file")
        except (zlib.error, gzip.BadGzipFile) as error:
            raise refused(file, None, f"the gzip file is damaged ({error})", "a whole file") from None
    if b"\0" in data[:4000] and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")  # PowerShell redirects so
    try:
        return input_file.decoded(data)
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")  # a ping of Windows, whose code page is not told
