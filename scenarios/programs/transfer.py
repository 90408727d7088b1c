"""Sends or fetches bytes with asyncio streams: `serve PORT`, or `fetch HOST PORT BYTES`."""

import asyncio
import sys
import time


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    count = int(await reader.readline())
    writer.write(bytes(count))
    await writer.drain()
    writer.close()


async def serve(port: str) -> None:
    server = await asyncio.start_server(answer, None, int(port))
    print("serving", flush=True)
    await server.serve_forever()


async def fetch(host: str, port: str, count: str) -> None:
    began = time.monotonic()
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"{count}\n".encode())
    first = await reader.readexactly(1)
    print(f"first byte after {(time.monotonic() - began) * 1e3:.3f} ms")
    rest = await reader.read(-1)
    print(f"{len(first) + len(rest)} bytes after {time.monotonic() - began:.6f} s")
    writer.close()
    if len(first) + len(rest) != int(count):
        sys.exit("the transfer is not whole")


asyncio.run({"serve": serve, "fetch": fetch}[sys.argv[1]](*sys.argv[2:]))
