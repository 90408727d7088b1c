"""What a client accepts of a Dask cluster: plain values, a few values of ours, and exceptions. All else that is pickled
is refused. Changes how this process unpickles, while a block lasts.

Dask pickles what workers return, and whoever unpickles it calls what it names. So here an unpickler of our own stands
in for Dask's, which looks names up in a list and nowhere else. Whatever calls pickle by another way meets an audit
hook, which refuses every name.

A pickle can also set attributes of what it names. So it gets no class of ours, but one derived for it alone; who takes
an answer makes a value of it anew (`member.received`, `task.received`, `parcel.received`).
"""

from __future__ import annotations

import builtins
import io
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from ...kernel.parcel import Parcel
from .kernel_parcel import KernelId
from .member import Member
from .task import Outcome

EXCEPTIONS_OF = ("builtins", "testbed", "distributed", "asyncio")
"""The packages whose exceptions are made anew: of modules that are imported already, and with their arguments only."""
FIND_CLASS = "pickle.find_class"


class Refused(TypeError):
    """A name that no answer of ours has."""


class _Said:
    """In place of an object of Dask's: what was said of it, and nothing that it does."""

    def __init__(self, *words: object, **more: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        for each in state if isinstance(state, tuple) else (state,):
            if isinstance(each, dict):
                self.__dict__.update({str(key): value for key, value in each.items()})


def _nothing(*words: object) -> None:
    """In place of a function that makes a traceback, or looks up an attribute."""


def _exception(kind: Any, about: Any, *_: object) -> Exception:
    """In place of tblib's function of the same arguments, without causes, contexts and tracebacks."""
    if not (isinstance(kind, type) and issubclass(kind, Exception) and isinstance(about, dict)):
        raise Refused("an exception that is none")
    made = kind.__new__(kind, *about.get("args", ()))
    own = about.get("__dict__", {})
    made.__dict__.update({str(key): value for key, value in own.items()} if isinstance(own, dict) else {})
    return made


PLAIN = (bytes, bytearray, int)
OURS = {(kind.__module__, kind.__qualname__): kind for kind in (KernelId, Member, Outcome, Parcel)}
STAND_INS: dict[tuple[str, str], Any] = {
    ("builtins", "bytes"): bytes,
    ("builtins", "bytearray"): bytearray,
    ("builtins", "int"): int,
    ("builtins", "getattr"): _nothing,
    ("collections", "deque"): _Said,
    ("collections", "defaultdict"): _Said,
    ("distributed.core", "Status"): _Said,
    ("distributed.scheduler", "WorkerState"): _Said,
    ("tblib", "Code"): _Said,
    ("tblib", "Frame"): _Said,
    ("tblib", "Traceback"): _Said,
    ("tblib.pickling_support", "unpickle_exception"): lambda kind, words, *_: _exception(kind, {"args": words}),
    ("tblib.pickling_support", "unpickle_exception_with_attrs"): _exception,
    ("tblib.pickling_support", "unpickle_traceback"): _nothing,
}
"""What stands for what Dask tells of itself: a worker that died (`KilledWorker`), tracebacks."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        found = OURS.get((module, name)) or STAND_INS.get((module, name)) or _exception_kind(module, name)
        if found is None:
            raise Refused(f"{module}.{name}")
        if found in PLAIN:
            return found
        return type(name, (found,), {}) if isinstance(found, type) else partial(found)


def _exception_kind(module: str, name: str) -> type[Exception] | None:
    if module.partition(".")[0] not in EXCEPTIONS_OF:
        return None
    found = vars(sys.modules.get(module, builtins)).get(name)
    return found if isinstance(found, type) and issubclass(found, Exception) else None


def loads(data: Any, *, buffers: Any = ()) -> Any:
    """The value; an exception of the kind Refused in its place if there is more in it than may be."""
    try:
        return _Unpickler(io.BytesIO(data), buffers=buffers).load()
    except Exception as error:
        why = error if isinstance(error, Refused) else f"{type(error).__name__}: {error}"
        return Refused(f"it sent what is no answer: {why}")


@contextmanager
def accepted_only() -> Iterator[None]:
    """While the block lasts, this process unpickles as `loads` does, and nothing else."""
    from distributed import client  # has the function by a name of its own: with it, it reads that a worker died
    from distributed.protocol import pickle as of_dask

    before: Callable[..., Any] = of_dask.loads
    guard = _guard()
    guard.enter(1)
    of_dask.loads = client.loads = loads
    try:
        yield
    finally:
        of_dask.loads = client.loads = before
        guard.enter(-1)


class _Guard:
    """Refuses names to all unpicklers but ours while blocks last. An audit hook cannot be taken away again."""

    def __init__(self) -> None:
        self._blocks, self._lock = 0, threading.Lock()
        sys.addaudithook(self._look)

    def enter(self, change: int) -> None:
        with self._lock:
            self._blocks += change

    def _look(self, event: str, words: tuple[Any, ...]) -> None:
        if event == FIND_CLASS and self._blocks:
            raise Refused(f"{words[0]}.{words[1]}")


@cache
def _guard() -> _Guard:
    return _Guard()
