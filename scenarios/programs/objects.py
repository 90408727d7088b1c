"""Stores of objects, the edge of a CDN before them, and a home that downloads from all of them, in cycles.

`store`, and `edge ADDRESS...` (the stores, in the order of its ports from 8001 on), become nginx.
`cycle SEED EDGE ADDRESS...` downloads every object of every store once from the store and once from the edge, in a
drawn order, PAUSE_S from the end of one to the start of the next. cycle.json tells of it; the program ends PERIOD_S
after it began.
"""

import json
import os
import random
import socket
import sys
import time
import zlib

SIZES_BYTES = (1, 2**10, 2**20, 16 * 2**20, 100 * 2**20)
PAUSE_S, PERIOD_S = 10.0, 7200.0
EDGE_PORT = 8001
PART_BYTES = 2**20
HERE = os.getcwd()
TEMPS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def nginx(servers: str) -> None:
    temps = "".join(f"{kind}_temp_path {HERE}/{kind}; " for kind in TEMPS)
    with open("nginx.conf", "w") as file:
        file.write(f"user root; daemon off; master_process off; pid {HERE}/nginx.pid; error_log stderr warn;\n")
        file.write("events { worker_connections 64; }\n")
        file.write(f"http {{ access_log off; sendfile on; {temps}\n{servers}}}\n")
    os.execvp("nginx", ["nginx", "-p", HERE, "-c", f"{HERE}/nginx.conf"])


def store() -> None:
    for size in SIZES_BYTES:
        with open(str(size), "wb") as file:
            file.truncate(size)
    nginx(f"server {{ listen 80; root {HERE}; }}\n")


def edge(*stores: str) -> None:
    servers = f"proxy_cache_path {HERE}/cache keys_zone=objects:1m inactive=1000d use_temp_path=off;\n"
    servers += "proxy_cache objects; proxy_cache_valid 200 1000d;\n"
    for port, address in enumerate(stores, EDGE_PORT):
        servers += f"server {{ listen {port}; location / {{ proxy_pass http://{address}; }} }}\n"
    nginx(servers)


def fetch(host: str, port: int, size: int) -> int:
    """The bytes of an object that came. Reads in large parts: a process that wakes up for each packet makes a trial in
    virtual time slow.
    """
    come, part = 0, bytearray(PART_BYTES)
    with socket.create_connection((host, port)) as stream:
        stream.sendall(f"GET /{size} HTTP/1.0\r\n\r\n".encode())
        with stream.makefile("rb", buffering=0) as answer:
            status = answer.readline()
            while answer.readline().strip():
                pass
        while count := stream.recv_into(part, PART_BYTES, socket.MSG_WAITALL):
            come += count
    if b" 200 " not in status or come != size:
        sys.exit(f"{host}:{port} answered {status!r}, and {come} bytes of {size} came")
    return come


def cycle(seed: str, edge: str, *stores: str) -> None:
    begin_s = time.monotonic()
    servers = [*((store, 80) for store in stores), *((edge, port) for port, _ in enumerate(stores, EDGE_PORT))]
    wanted = [(host, port, size) for host, port in servers for size in SIZES_BYTES]
    random.Random(f"{seed} {begin_s}").shuffle(wanted)
    pauses_s, each, end_s = [], [], None
    for host, port, size in wanted:
        if end_s is not None:
            time.sleep(PAUSE_S)
            pauses_s.append(time.monotonic() - end_s)
        start_s = time.monotonic()
        come = fetch(host, port, size)
        end_s = time.monotonic()
        each.append({"host": host, "port": port, "bytes": come, "elapsed_s": end_s - start_s})
    about = {
        "downloads": len(each),
        "objects": len({(one["host"], one["port"], one["bytes"]) for one in each}),
        "order": zlib.crc32(repr(wanted).encode()),
        "pause_min": min(pauses_s),
        "pause_max": max(pauses_s),
        "busy": time.monotonic() - begin_s,
        "each": each,
    }
    with open("cycle.json", "w") as file:
        json.dump(about, file)
    time.sleep(begin_s + PERIOD_S - time.monotonic())


{"store": store, "edge": edge, "cycle": cycle}[sys.argv[1]](*sys.argv[2:])
