"""Debian's archive of kernels and their sources, read through APT as an ordinary user.

Touches its own folder and the network. The user's sources and lists are left alone; their proxy and
credentials are kept. Signatures are checked against Debian's keyring.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from ... import package, process
from ...cache_folder import make
from ...codec.frozen import dataclass
from ...error import MachineError, UserError, with_allowed

DEFAULT_PACKAGE = "linux-source-7.3"
SUITE = "trixie-backports"
MIRROR = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# Read last, so it wins over the user's own settings; a `Post-Invoke` of theirs would see our private folders.
SETTINGS = """\
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::Lists "{folder}/lists";
Dir::Cache "{folder}/cache";
APT::Sandbox::User "";
APT::Update::Error-Mode "any";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


@dataclass(frozen=True)
class Release:
    """A version of a kernel source package, such as `linux-source-7.3` `7.3.4-1~bpo13+1`."""

    package: str
    version: str

    @property
    def upstream(self) -> str:
        """The kernel's own version: 7.3.4."""
        return self.version.split("-")[0]

    def answers(self, wanted: str | None) -> bool:
        """Whether this is the wanted version: 7.3, 7.3.4 or the full one. None means any."""
        return wanted is None or f"{self.version}.".startswith((f"{wanted}.", f"{wanted}-", f"{wanted}~"))


def mirror() -> str:
    """The archive to read: TESTBED_DEBIAN_MIRROR, or Debian's own."""
    return os.environ.get("TESTBED_DEBIAN_MIRROR") or MIRROR


class Archive:
    """A private view of the archive, kept in `folder`."""

    def __init__(self, folder: Path, mirror: str) -> None:
        self.folder = folder
        self.mirror = mirror

    def newest(self, wanted: str | None) -> Release:
        """The newest release of a version; None is `DEFAULT_PACKAGE`, or the newest 7.x when that is gone.

        Without a network, the newest one already fetched. UserError when there is no such version.
        """
        try:
            found = self._list()
        except process.CommandError as error:
            found = tuple(release for release, _ in self.fetched())
            if not any(release.answers(wanted) for release in found):
                raise _unreachable(self.mirror, error.stderr) from error
        fitting = [release for release in found if release.answers(wanted)]
        preferred = [release for release in fitting if release.package == DEFAULT_PACKAGE and wanted is None]
        if not fitting:
            have = sorted({release.upstream for release in found})
            what = f"--source {wanted}: no such version in {SUITE}"
            raise UserError(with_allowed(what, ", ".join([*have, "a tarball", "a folder"])))
        return max(preferred or fitting, key=_order)

    def fetch(self, release: Release) -> Path:
        """The package file, downloaded unless it is here already; older ones are removed."""
        for known, path in self.fetched():
            if known == release:
                return path
        wanted = f"{release.package}={release.version}"
        arriving = self.folder / "arriving"
        make(self.folder)
        arriving.mkdir(exist_ok=True)
        try:
            process.run(self._apt("apt-get", "download", wanted), cwd=arriving)
        except process.CommandError as error:
            raise _unreachable(self.mirror, error.stderr) from error
        for _, path in self.fetched():
            path.unlink()
        (path,) = arriving.glob(f"{release.package}_*.deb")
        return path.rename(self.folder / path.name)

    def fetched(self) -> tuple[tuple[Release, Path], ...]:
        """The package files that are here."""
        files = sorted(self.folder.glob("linux-source-*_*.deb"))
        names = ((path, path.name.split("_")) for path in files)
        return tuple((Release(words[0], unquote(words[1])), path) for path, words in names)

    def versions(self, pattern: str) -> tuple[tuple[str, str], ...]:
        """Every package of the archive whose name matches, with its version. MachineError without a network."""
        try:
            return self._versions(pattern)
        except process.CommandError as error:
            raise _unreachable(self.mirror, error.stderr) from error

    def dependencies(self, name: str) -> tuple[str, ...]:
        """The packages that one of the archive names as needed."""
        table = process.run(self._apt("apt-cache", "depends", "--important", name)).stdout
        return tuple(line.split()[-1] for line in table.splitlines() if "Depends:" in line)

    def download(self, wanted: Sequence[str], folder: Path) -> tuple[Path, ...]:
        """The files of packages, each `NAME=VERSION`, in a folder. MachineError without a network."""
        try:
            process.run(self._apt("apt-get", "download", *wanted), cwd=folder)
        except process.CommandError as error:
            raise _unreachable(self.mirror, error.stderr) from error
        return tuple(sorted(folder.glob("*.deb")))

    def _list(self) -> tuple[Release, ...]:
        found = self._versions(r"linux-source-\d+\.\d+")
        return tuple(Release(name, version) for name, version in found)

    def _versions(self, pattern: str) -> tuple[tuple[str, str], ...]:
        self._prepare()
        process.run(self._apt("apt-get", "update"))
        names = process.run(self._apt("apt-cache", "pkgnames", "linux-")).stdout.split()
        wanted = [name for name in names if re.fullmatch(pattern, name)]
        if not wanted:
            return ()
        table = process.run(self._apt("apt-cache", "madison", *wanted)).stdout
        rows = (line.split("|") for line in table.splitlines() if "Packages" in line)
        return tuple((row[0].strip(), row[1].strip()) for row in rows)

    def _prepare(self) -> None:
        if not KEYRING.exists():
            fix = package.install_command(["debian-archive-keyring"])
            raise MachineError(f"Debian's keys are not here ({KEYRING})", fix)
        make(self.folder)
        for part in ("lists/partial", "cache/archives/partial"):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "apt.conf").write_text(SETTINGS.format(folder=self.folder))
        source = f"deb [arch=amd64 signed-by={KEYRING}] {self.mirror} {SUITE} main\n"
        (self.folder / "sources.list").write_text(source)

    def _apt(self, program: str, *words: str) -> tuple[str, ...]:
        return (program, "-q", "-c", str(self.folder / "apt.conf"), *words)


def _order(release: Release) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", release.version))


def _unreachable(mirror: str, said: str) -> MachineError:
    reasons = [line for line in said.splitlines() if line.startswith(("E:", "W:"))]
    first = f"no kernel from {mirror} {SUITE} (network? TESTBED_DEBIAN_MIRROR?)"
    what = "\n".join([first, *reasons[:5]])
    if any("NO_PUBKEY" in line or "not signed" in line for line in reasons):
        return MachineError(what, package.install_command(["debian-archive-keyring"]))
    return MachineError(what, "testbed kernel build --source TARBALL")
