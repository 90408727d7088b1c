"""Builds a kernel for virtual machines from source, with no modules. Writes to the cache only."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from ..image import build, feature
from ..image.cache import Cache, KernelImage, Record
from . import first_boot, guest_agent, hypervisor, kernel_cache
from .kernel_cache import VmKernel

TARGET = build.Target(
    "vm", "kernel for virtual machines", "x86_64", "bzImage", "arch/x86/boot/bzImage", 2497, first_boot.ask
)


def make(
    source: str | None = None,
    name: str | None = None,
    *,
    patches: Sequence[Path] = (),
    jobs: int | None = None,
    report: build.Report = lambda stage: None,
) -> VmKernel:
    """As `build.build`, for virtual machines. Without a name and a source it becomes the kernel of machines that name
    none, as a kernel fetched without a name does; the last one counts.
    """
    guest_agent.need(lambda what: report(build.Stage(what)))
    hypervisor.version()
    cache = Cache(kernel_cache.folder() / "built")
    image = build.build(source, name, patches=patches, jobs=jobs, report=report, cache=cache, target=TARGET)
    record = next(record for record, known in cache.records() if known == image)
    is_default = image.default and name is None
    for known in kernel_cache.installed():
        if (known.name, known.source, known.default) == (image.name, _source(record), is_default):
            return known
    return _put(image, record, is_default)


def _put(image: KernelImage, record: Record, is_default: bool) -> VmKernel:
    with kernel_cache.kernels().partial() as made:
        modules = made / "kernel" / "modules" / image.release
        modules.mkdir(parents=True)
        (modules / "modules.dep").touch()
        shutil.copyfile(image.path, made / "kernel" / "vmlinuz")
        if (known := feature.read(image.folder)) is not None:
            feature.write(made / "kernel", known)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        about = VmKernel(image.name, image.release, _source(record), is_default, now, made / "kernel")
        return kernel_cache.put(made / "kernel", about)


def _source(record: Record) -> str:
    """The key of what it was built from, which differs from that of another kernel of the same name."""
    return ", ".join((record.source_identity, *record.patches, record.key[:12]))
