"""A toy of Linux's source and toy tools to build it with: make, gcc, APT, each a few lines of shell."""

import tarfile
from pathlib import Path

from testbed.kernel.image.build import KernelImage, Stage, build
from testbed.kernel.image.cache import Cache

NOTE = "\t  Setting it to zero disables the feature."
SHADOW = [NOTE, "", "config KASAN_SHADOW_OFFSET", "\thex", "\tdepends on KASAN"]
KCONFIG = "\n".join(["# filler"] * 78 + SHADOW + ["", "config HZ", "\tint", "\tdefault 100", "", "# end", ""])

GCC = "#!/bin/sh\necho 'gcc (toy) 1.0'\n"

# The last word is the target. Files in the tree steer it: `lacks` (an option), `broken`, `slow`.
MAKE = r"""#!/bin/sh
for target do :; done
said() { printf '%s\n' "$@" >&2; }
case $target in
tinyconfig) echo '# CONFIG_TTY is not set' >.config ;;
olddefconfig)
    hz=$(sed -n 's/.*default //p' arch/um/Kconfig)
    [ "$1" != ARCH=um ] || sed -i "s/^CONFIG_HZ=.*/CONFIG_HZ=$hz/" .config
    [ ! -e lacks ] || sed -i "/^$(cat lacks)=/d" .config ;;
linux | bzImage)
    echo "  CC      init/main.o"
    echo "  CC      mm/slub.o"
    [ ! -e slow ] || exec sleep 1000
    [ ! -e broken ] || { echo "net/tcp.c:7:1: error: expected ';'" >&2; exit 2; }
    mkdir -p include/config arch/x86/boot
    for source in net/ipv4/tcp_*.c; do
        object=${source%.c}.o
        [ -e "$source" ] || continue
        [ ! -e "$object" ] || [ "$source" -nt "$object" ] || continue
        grep -q "${object##*/}" net/ipv4/Makefile || continue
        echo "  CC      $object"
        ! grep -q '#error' "$source" || { said "$source:3:2: error: #error here" "    3 | #error here"; exit 2; }
        ! grep -q unused "$source" || said "$source:1:5: warning: unused variable" "    1 | int unused;"
        grep -v '^//' "$source" >"$object"
    done
    echo 7.3.4 >include/config/kernel.release
    if [ "$target" = linux ]; then cp kernel.sh linux; else echo "$1" >arch/x86/boot/bzImage; fi
    for object in net/ipv4/tcp_*.o; do [ ! -e "$object" ] || sed 's/^/# /' "$object" >>linux; done
    [ ! -e net/flags ] || sed 's/^/# /' net/flags >>linux
    echo "# version ${KBUILD_BUILD_VERSION:-counted}" >>linux ;;
esac
"""

KERNEL = """#!/bin/sh
echo "Booting"
echo "testbed-first-boot 7.3.4 3600"
echo 'testbed-features: {"controls": "reno toy", "tried": ["netem"], "refusals": {}}'
"""

QEMU = """#!/bin/sh
case $1 in
--version) echo "QEMU emulator version 9.9.9 (toy)" ;;
*) [ ! -e "$TOY/panics" ] || { echo "Kernel panic - not syncing: toy"; exit 1; }
   echo "testbed-vm: boots 7.3.4"; echo "testbed-features: reno toy" ;;
esac
"""

APT_GET = r"""#!/bin/sh
echo "$0 $*" >>"$TOY/apt.log"
[ ! -e "$TOY/offline" ] || { echo "E: Could not resolve 'deb.debian.org'" >&2; exit 100; }
for last do :; done
case $last in *=*) name=${last%%=*} version=${last#*=}; : >"${name}_${version}_all.deb" ;; esac
"""

APT_CACHE = r"""#!/bin/sh
case "$*" in
*pkgnames*) printf '%s\n' linux-source-7.2 linux-source-7.3 linux-source-9.1 linux-source-cloud ;;
*) for release in 7.2:7.2.9-1 7.3:7.3.3-1 7.3:7.3.10-1 9.1:9.1.2-1; do
    echo "linux-source-${release%%:*} | ${release#*:} | http://deb.debian.org/debian x/main amd64 Packages"
done ;;
esac
"""

# dpkg-deb --extract FILE FOLDER
DPKG_DEB = r"""#!/bin/sh
mkdir -p "$3/usr/src"
name=$(basename "$2"); name=${name%%_*}
tar -cJf "$3/usr/src/$name.tar.xz" -C "$TOY" linux
"""

TOOLS = {"gcc": GCC, "make": MAKE, "apt-get": APT_GET, "apt-cache": APT_CACHE, "dpkg-deb": DPKG_DEB}
TOOLS |= {"qemu-system-x86_64": QEMU, "qemu-ga": "#!/bin/sh\n"}


def executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def partial_folders(cache: Cache) -> list[Path]:
    return list(cache.folder.glob(".partial-*"))


def snapshot(folder: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in folder.rglob("*") if path.is_file()}


def tarball(tree: Path, ending: str) -> Path:
    path = tree.with_name(f"mine.tar.{ending}")
    with tarfile.open(path, f"w:{ending}") as file:  # type: ignore[call-overload]
        file.add(tree, "linux-7.3")
    return path


def counted_build(cache: Cache, source: str | None, name: str | None = None) -> tuple[KernelImage, bool]:
    """The image, and whether anything was compiled for it."""
    stages: list[Stage] = []
    image = build(source, name, cache=cache, report=stages.append)
    return image, any(stage.what == "compiling" for stage in stages)


NOTHING = "--- /dev/null"[6:]


def patched_files() -> dict[str, str]:
    """The files that our patches change, with nothing but the lines that the patches expect: all besides KCONFIG and
    those that a patch makes.
    """
    found: dict[str, str] = {}
    made = {"arch/um/Kconfig"}
    for patch in sorted((Path(__file__).parents[2] / "kernel/lab/patches").glob("*.patch")):
        file = None
        for line in patch.read_text().splitlines():
            if line.startswith("--- "):
                file = line[6:] if line[6:] not in made else None
            elif line.startswith("+++ "):
                made |= {line[6:]} if file == NOTHING else set()
            elif file is None:
                continue
            elif line.startswith("@@"):
                found.setdefault(file, "")
            elif line[:1] in (" ", "-") and file in found and line != "-- ":
                found[file] += f"{line[1:]}\n"
    return found
