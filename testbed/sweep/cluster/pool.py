"""The workers of a Dask cluster that take trials of this run: looks for new ones, examines them, sends them kernels.

A worker whose software would give other bytes is refused, unless any worker will do.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...error import MachineError
from . import member
from .member import Member
from .outfit import Outfit

if TYPE_CHECKING:
    from distributed import Client

Notice = Callable[[str], None]
"""Called with a sentence for the person who waits."""

ARCHITECTURE = "architecture"
ANSWER_S = 120.0
"""How long a worker may take to answer: at its first run it compiles our programs."""
RETURN_S = 30.0
"""How long a scheduler may be away."""
AT_A_TIME = 32
"""Workers that are asked, or get a kernel, at a time: the scheduler connects to each of them, and holds a copy of the
kernel for each.
"""
TRIES = 3
"""How often a worker that cannot be reached is asked, at different looks."""


class Gone(Exception):
    """A worker died, or left, before it answered. If it is there at the next look, it is asked again."""


class ClusterLost(MachineError):
    """The scheduler does not answer any more, or no worker can take trials."""


@dataclass
class Pool:
    """`members` and `refused` have the addresses of workers. If they `are_ours`, started here for the run, they have
    the software that we have.
    """

    client: Client
    outfit: Outfit
    notice: Notice
    are_ours: bool = False
    members: dict[str, Member] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    unreached: Counter[str] = field(default_factory=Counter)
    """How often a worker could not be reached."""
    present: int = 0
    """How many workers the cluster has, members or not."""
    most_bytes: int = 0
    """The memory of the largest worker that has been a member."""

    @property
    def cores(self) -> int:
        return sum(each.cores for each in self.members.values())

    def named(self, address: str) -> str:
        """A worker as people know it."""
        found = self.members.get(address)
        return address if found is None else f"{found.host} ({address})"

    async def connected(self) -> None:
        """Waits until the scheduler answers. Raises ClusterLost if it does not come back."""
        loop = asyncio.get_running_loop()
        until_s = loop.time() + RETURN_S
        while self.client.status != "running":
            if loop.time() > until_s or self.client.status == "closed":
                what = "the Dask scheduler does not answer any more; what is finished is stored"
                raise ClusterLost(what, "dask scheduler, and then the same command, which goes on from there")
            await asyncio.sleep(0.2)

    async def meet(self) -> list[str]:
        """Examines some of the workers that are new, AT_A_TIME; the addresses of those that take trials now. Raises
        ClusterLost if there are workers, and none of them takes any.
        """
        joined = await self._joined()
        if not self.members and 0 < self.present <= len(self.refused):
            whys = "; ".join(f"{address}: {why}" for address, why in self.refused.items())
            raise ClusterLost(f"no worker can take trials: {whys}", "testbed doctor, on these computers")
        return joined

    async def _joined(self) -> list[str]:
        there = await self.client.nthreads()
        self.present = len(there)
        for gone in [address for address in self.members if address not in there]:
            self.members.pop(gone)
        for gone in [address for address in self.refused if address not in there]:
            self.refused.pop(gone)
        new = [address for address in there if address not in self.members and address not in self.refused]
        new = sorted(new, key=lambda address: self.unreached[address])[:AT_A_TIME]
        if not new:
            return []
        asked = await asyncio.gather(
            *(self.ask(address, member.present, tuple(self.outfit.kernels)) for address in new)
        )
        said: list[Any] = [each if isinstance(each, Exception) else member.received(each) for each in asked]
        accepted = {address: each for address, each in zip(new, said, strict=True) if self._accepts(address, each)}
        await self._send_kernels(accepted)
        joined = [address for address in accepted if address not in self.refused]
        for address, said in zip(joined, await self._ask_all(joined, member.join, self.outfit.ticket), strict=True):
            if said is None:
                self.members[address] = accepted[address]
                self.most_bytes = max(self.most_bytes, accepted[address].memory_bytes)
            elif not self._may_come_back(address, said):
                self._refuse(address, f"it does not answer: {said}")
        return [address for address in joined if address in self.members]

    async def bench(self, address: str, why: str) -> None:
        """Gives a worker no more trials of this run."""
        if address in self.members:
            self._refuse(address, why)
            self.members.pop(address)
            await self.ask(address, member.leave, self.outfit.ticket)

    async def ask(self, address: str, function: Callable[..., Any], *words: Any, limit_s: float = ANSWER_S) -> Any:
        """What a function returns on a worker, or the exception that came of it: Gone, if the worker is."""
        from distributed.comm import CommClosedError

        asking = self.client.run(function, *words, workers=[address], on_error="return")
        try:
            async with asyncio.timeout(limit_s):
                said = await asking
        except (OSError, TimeoutError) as error:
            return error
        found = said.get(address)
        is_gone = address not in said or isinstance(found, CommClosedError)
        return Gone(address) if is_gone else found

    async def _ask_all(self, addresses: list[str], function: Callable[..., Any], *words: Any) -> list[Any]:
        return await asyncio.gather(*(self.ask(address, function, *words) for address in addresses))

    def _accepts(self, address: str, said: Any) -> bool:
        if self._may_come_back(address, said):
            return False
        if not isinstance(said, Member):
            self._refuse(address, f"it cannot run trials: {type(said).__name__}: {said}")
            return False
        theirs = said.parts.get(ARCHITECTURE)
        if theirs != self.outfit.parts.get(ARCHITECTURE):
            self._refuse(address, f"its processor is {theirs}, and the lab kernel is for another")
            return False
        differences = () if self.are_ours or self.outfit.any_worker else self.outfit.differences(said.parts)
        if differences:
            self._refuse(address, f"its results could differ: {'; '.join(differences)}; allowed: --any-worker")
            return False
        return True

    def _may_come_back(self, address: str, said: Any) -> bool:
        """Whether a worker that did not answer is asked again at a later look."""
        self.unreached[address] += isinstance(said, OSError)
        return isinstance(said, Gone) or (isinstance(said, OSError) and self.unreached[address] < TRIES)

    async def _send_kernels(self, accepted: Mapping[str, Member]) -> None:
        """Once to each computer that lacks one; the workers of a computer may share a folder."""
        for kernel, parcel in self.outfit.kernels.items():
            lacking = [address for address, said in accepted.items() if kernel in said.lacking]
            for at in range(0, len(lacking), AT_A_TIME):
                some = lacking[at : at + AT_A_TIME]
                for address, said in zip(some, await self._ask_all(some, member.receive, kernel, parcel), strict=True):
                    if isinstance(said, Exception) and not isinstance(said, Gone):
                        self._refuse(address, f"it could not take the lab kernel: {said}")

    def _refuse(self, address: str, why: str) -> None:
        self.refused[address] = why
        self.notice(f"worker {self.named(address)} gets no trials: {why}")
