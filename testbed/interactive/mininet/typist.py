"""The typist: a program that gives a script its input line by line, whenever Mininet's CLI asks for one. Pure, no I/O.

By itself the CLI passes what waits in its input on to the command that it runs in a node, and at the end of the input
it asks again and again, for which virtual time stands still.
"""

TEXT = r'''#!/usr/bin/python3
import os
import select
import signal
import subprocess
import sys

PROMPT, QUIET_S = b"mininet> ", 600.0  # without a prompt, a script that says nothing for so long waits for input

child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, lambda number, frame: child.send_signal(number))
says, ended = child.stdout.fileno(), os.pidfd_open(child.pid)
given, last, is_all, asks = b"", b"", False, False


def write(descriptor, data):
    while data:
        data = data[os.write(descriptor, data) :]


def give():
    """The next line, if there is one; at their end that there is none."""
    global given, asks, last
    line, end, rest = given.partition(b"\n")
    if end or (is_all and line):
        given = rest
    elif not is_all or child.stdin is None:
        return
    asks, last = False, b""
    try:
        write(child.stdin.fileno(), line + end)
        if not line and not end:
            child.stdin.close()
            child.stdin = None
    except BrokenPipeError:
        child.stdin = None


while True:
    hears = [0] if asks and not is_all else []
    ready = select.select([says, ended, *hears], [], [], None if asks or child.stdin is None else QUIET_S)[0]
    if says in ready:
        data = os.read(says, 65536)
        write(1, data)
        last = (last + data)[-len(PROMPT) :]
        asks = asks or last == PROMPT
        if not data:
            break
    elif ended in ready:
        break
    if not ready:
        asks = True
    if 0 in ready:
        data = os.read(0, 65536)
        given, is_all = given + data, not data
    if asks and child.stdin is not None:
        give()
status = child.wait()
sys.exit(status if status >= 0 else 128 - status)
'''
