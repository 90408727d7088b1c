"""Kernels for virtual machines: built from source without modules, or fetched from Debian. Writes to the cache only."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ... import process
from ...cache_folder import user_folder
from ...error import UserError, with_allowed
from ..image import build, feature
from ..image.cache import Cache, KernelImage, Record
from ..image.debian import SUITE, Archive, mirror
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


IMAGE = re.compile(r"linux-image-(\d[\w.+~]*-amd64)")
"""Debian's generic kernels; its cloud kernels have no 9p."""
PARTS = ("linux-image", "linux-binary", "linux-modules", "linux-base")
"""Packages that a kernel may be split into; the release follows."""


def fetch(
    wanted: str | None = None, name: str | None = None, report: Callable[[str], None] = lambda what: None
) -> VmKernel:
    """The newest kernel of a version (None: the newest of all), unless it is here already; and the guest agent.

    `name` None is `debian-VERSION`, and makes it the default kernel. UserError when there is no such version.
    """
    if name is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", name):
        raise UserError(
            f"--name {name!r}: allowed: letters, digits, '.', '_', '+', '-', beginning with none of the signs"
        )
    guest_agent.need(report)
    archive = Archive(user_folder() / "debian", mirror())
    report("looking for the kernel")
    package, version = _choose(archive, wanted)
    release = package.removeprefix("linux-image-")
    called = name or f"debian-{version.split('-')[0]}"
    source = f"{package} {version}"
    for known in kernel_cache.installed():
        if (known.name, known.source, known.default) == (called, source, name is None):
            return known
    with kernel_cache.kernels().partial() as partial:
        box, made = partial / "box", partial / "made"
        made.mkdir()
        report(f"fetching {package}")
        for part in archive.download([f"{each}={version}" for each in _parts(archive, package, release)], partial):
            process.run(["dpkg-deb", "--extract", part, box])
        home = next(path for path in (box / "usr/lib/modules", box / "lib/modules") if path.is_dir())
        report("listing its modules")
        process.run(["depmod", "--basedir", home.parents[1], release])
        image = next(
            path for path in (home / release / "vmlinuz", box / "boot" / f"vmlinuz-{release}") if path.is_file()
        )
        shutil.copyfile(image, made / "vmlinuz")
        home.rename(made / "modules")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return kernel_cache.put(made, VmKernel(called, release, source, name is None, now, made))


def _choose(archive: Archive, wanted: str | None) -> tuple[str, str]:
    """Package and version."""
    found = archive.versions(r"linux-image-\d.*")
    images = {package: version for package, version in found if IMAGE.fullmatch(package)}
    fitting = {
        package: version
        for package, version in images.items()
        if wanted is None or f"{version}.".startswith((f"{wanted}.", f"{wanted}-", f"{wanted}~"))
    }
    if not fitting:
        have = sorted({version.split("-")[0] for version in images.values()}, key=_order)
        raise UserError(with_allowed(f"no kernel of version {wanted} in {SUITE}", ", ".join(have)))
    package = max(fitting, key=lambda each: _order(fitting[each]))
    return package, fitting[package]


def _parts(archive: Archive, package: str, release: str) -> list[str]:
    """The packages of the same source that it needs: kernel and modules may be separate."""
    allowed = {f"{part}-{release}" for part in PARTS}
    needed = allowed & set(archive.dependencies(package))
    return [package, *sorted(needed - {package})]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))
