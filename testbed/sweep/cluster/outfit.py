"""The outfit of a run: what a worker must have to carry out its trials, and what it gets from us. Reads kernels."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from ...codec.frozen import dataclass
from ...kernel.parcel import Parcel
from ...model.run_setting import Kernel
from ...model.scenario import Trial
from ...trial import provenance, software
from ...trial.ready_kernel import ready_kernel
from . import kernel_parcel
from .arrival import Expected
from .kernel_parcel import KernelId


@dataclass(frozen=True)
class Outfit:
    """`parts` are this computer's software; a worker must have the same, unless `any_worker`. `expected` says of each
    kernel what trials on it run on, `kernels` has those to send. `digest` names the results: those that any worker may
    have measured are others.
    """

    parts: software.Parts
    any_worker: bool
    kernels: Mapping[KernelId, Parcel]
    expected: Mapping[Kernel, Expected]
    digest: str

    @property
    def ticket(self) -> str:
        """The Dask resource by which a worker says that it has this outfit."""
        images = sorted(each.image for each in self.kernels)
        return f"testbed-{hashlib.sha256(json.dumps([self.digest, images]).encode()).hexdigest()[:16]}"

    def differences(self, parts: software.Parts) -> tuple[str, ...]:
        """In what the software of a worker differs, in words."""
        found = software.differences(self.parts, parts)
        return tuple(f"{part} {theirs} instead of {ours}" for part, ours, theirs in found)


def outfit(trials: Sequence[Trial], any_worker: bool) -> Outfit:
    """What these trials need. Raises MachineError if a kernel is missing here."""
    kernels: dict[KernelId, Parcel] = {}
    expected: dict[Kernel, Expected] = {}
    for trial in {trial.kernel: trial for trial in trials}.values():
        image = ready_kernel(trial.kernel).image
        assert image is not None, "BUG: a trial for a cluster without a lab kernel"
        identity = kernel_parcel.kernel_id(image)
        if identity not in kernels:
            kernels[identity] = kernel_parcel.parcel_of(image)
        said: Mapping[str, Any] | None = None if any_worker else provenance.of(trial)
        expected[trial.kernel] = Expected(identity, said)
    parts = software.here()
    known = software.digest(parts) or uuid.uuid4().hex  # what nobody knows is never the same
    return Outfit(parts, any_worker, kernels, expected, f"{known}{' any worker' if any_worker else ''}")
