"""What happens before a rule is checked: a link goes down, a server starts, time passes. Pure, no I/O."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ...codec.fault import Fault
from ...codec.keyed import Keyed, key, named
from ...codec.kind import NAME, SPAN, TEXT, word
from ...plan.step import Run, Sleep, Step
from .common import COUNT, STATUS, Found, Net, NotChecked, said, shortened

ENDS = ("end0", "end1")
LISTENER = """
import socket, sys
address, port, text = ("::" if sys.argv[1] == "6" else "0.0.0.0"), int(sys.argv[2]), sys.argv[3].encode()
end = socket.socket(socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET)
end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
end.bind((address, port))
end.listen(64)
print("listens", flush=True)
while True:
    peer, _ = end.accept()
    peer.sendall(text + b"\\n")
    peer.close()
"""
LISTENS_S = 1.0


@named
class Action(Keyed):
    """One thing that happens."""

    link: str | None = key("link", NAME, "The link that goes down or up.", default=None)
    is_: Literal["down", "up"] | None = key("is", word("down", "up"), default=None)
    wait: int | None = key("wait", SPAN, "Lab time that passes.", default=None)
    node: str | None = key("node", NAME, "Where a command runs, or a server listens.", default=None)
    run: str | None = key("run", TEXT, "A shell command that ends with status 0.", default=None)
    start: str | None = key("start", TEXT, "A shell command that goes on in the background.", default=None)
    listen: int | None = key(
        "listen", COUNT, "A TCP port on which the node sends its name to all who come.", default=None
    )

    def faults(self) -> Iterator[Fault]:
        kinds = [key for key in ("link", "wait", "run", "start", "listen") if getattr(self, key) is not None]
        if len(kinds) != 1:
            yield Fault(
                (), "this is not one action", "link and is, or wait, or node and run, start or listen", named=True
            )
        elif (kinds[0] == "link") != (self.is_ is not None):
            yield Fault((), "a link goes down or up", "link: NAME and is: down, or is: up", named=True)
        elif (kinds[0] in ("run", "start", "listen")) != (self.node is not None):
            yield Fault((), f"{kinds[0]} and node belong together", f"node: NAME and {kinds[0]}: …", named=True)

    def steps(self, net: Net, name: str) -> Iterator[Step]:
        """Raises NotChecked for what the network has not got."""
        if self.wait is not None:
            yield Sleep(self.wait / 1e9)
        elif self.link is not None:
            yield from pulled(net, self.link, self.is_ or "down")
        elif self.node is not None and self.run is not None:
            yield net.run(self.node, net.filled(self.run), f"{name}.out")
        elif self.node is not None:
            where, error = net.plan.where(net.node(self.node)), f"{name}.err"
            if self.start is not None:
                ended = f'{net.inside(self.node)}sh -c "$0"; s=$?; echo; echo {STATUS} $s'
                words: tuple[str, ...] = ("sh", "-c", ended, net.filled(self.start))
            else:
                version = "6" if ":" in net.address(self.node) else "4"
                words = ("python3", "-ISB", "-c", LISTENER, version, str(self.listen), self.node)
            yield Run(words, "start", where, out=f"{name}.out", err=error, background=name)
            yield Sleep(LISTENS_S)

    def went_wrong(self, found: Found, name: str) -> str | None:
        """Why it did not happen; None if it did, or nobody can say. Raises NotChecked if the network ended before."""
        if self.run is not None:
            status, text = said(found, f"{name}.out")
            return f"`{self.run}` in {self.node} ended with status {status}: {text.strip()[:200]}" if status else None
        before, mark, end = found.get(f"{name}.out", "").rpartition(f"{STATUS} ")
        if self.start is not None and mark and end.strip() != "0":
            why = shortened(found.get(f"{name}.err", "") or before, 200)
            return f"`{self.start}` in {self.node} ended with status {end.strip()}: {why}"
        if self.listen is not None and not found.get(f"{name}.out", ""):
            why = (found.get(f"{name}.err", "").strip().splitlines() or ["nothing was heard of it"])[-1]
            return f"{self.node} does not listen at TCP port {self.listen}: {why}"
        return None


def pulled(net: Net, link: str, state: str) -> Iterator[Step]:
    """A cable that is pulled out, or put in again. Raises NotChecked."""
    emulator = net.plan.emulator(link)
    if emulator is None:
        raise NotChecked(f"the link {link} cannot go {state}: it has no emulator; give it an rtt or a rate")
    for device in ENDS:
        yield Run(("ip", "link", "set", device, state), f"link {link}", net.plan.where_in(emulator.netns))
