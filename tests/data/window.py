"""Sends bytes, or fetches them with a receive buffer of its own: `serve PORT`, `fetch HOST PORT BYTES BUFFER`."""

import socket
import sys


def serve(port):
    with socket.create_server(("", int(port))) as listening:
        print("serving", flush=True)
        while True:
            with listening.accept()[0] as one:
                one.sendall(bytes(int(one.makefile().readline())))


def fetch(host, port, count, buffer):
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(buffer))
        one.connect((host, int(port)))
        one.sendall(f"{count}\n".encode())
        got = 0
        while part := one.recv(1 << 16):
            got += len(part)
        if got != int(count):
            sys.exit("the transfer is not whole")


{"serve": serve, "fetch": fetch}[sys.argv[1]](*sys.argv[2:])
