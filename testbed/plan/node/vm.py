"""Virtual machines as commands: the bridges and taps of their namespace, and QEMU in it. Pure, no I/O.

    eth0 ── vm0 (a bridge) ── tap0 ═ QEMU ═ eth0 of the machine

The node's namespace is like every other, so links end there as usual. In QEMU's command line, a word between two @
stands for what depends on the computer; `kernel.vm.hypervisor` fills it in. In virtual time a machine's clock is driven
by the instructions that its processor carries out (`-icount`), and `vmclock.c` has QEMU keep lab time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...codec.frozen import dataclass
from ...model.address import AddressBook, Port
from ...model.node.vm import Cpu, Vm
from ...model.topology import Nic, Node, Topology
from ..command import PREFIX, Command, Raw, Words, output_file
from ..linux import Device, Up
from ..step import Location, Placeholder, ReachVm, Resumed, Run, StartVm

PROGRAM = "qemu-system-x86_64"
ACCELERATOR, CPU, AGENT = Placeholder("accelerator"), Placeholder("cpu"), Placeholder("agent")
ROOT = Placeholder("root")
"""The folder that a machine without an image has as its root file system."""

SNAPSHOT = Placeholder("snapshot")
"""The folder with the snapshot of such a machine: its memory and its state."""

KERNEL, INITRAMFS, MODULES = "kernel", "initramfs", "modules"
ANY = "newest"
"""In place of a kernel's name: the newest kernel that was fetched without a name."""

SHIFTS: dict[str, int] = {"1 GIPS": 0, "0.5 GIPS": 1, "0.25 GIPS": 2}
"""An instruction takes 2 to the power of this, in ns of virtual time. QEMU knows no faster processor."""

PROCESSOR = "max,erms=off"
"""All that QEMU can translate. It would tell kernels to copy byte by byte (`rep movsb`), at an instruction each."""

FASTEST: Cpu = "1 GIPS"
CLOCK = "/run/tools/vmclock.so"
TRANSLATED_MIB = 128
"""For translated code, which a machine in a lab kernel fills; QEMU's own default is 1 GiB."""

HYPERVISOR_BYTES = 128 << 20
"""What QEMU takes beyond its machine's memory and the translated code."""

BOOT_LIMIT_S = 110
"""A loaded computer without KVM takes a fifth of this. A longer silence would end the trial anyway."""

BOOT_WORDS = "console=ttyS0 quiet panic=-1 net.ifnames=0 no_timer_check tsc=reliable"
"""The kernel's command line. Without KVM on a loaded computer, interrupts come so late that the kernel would otherwise
consider its timer broken and panic, or replace its fast clock with a slow one."""

COUNTED_WORDS = (
    "nolapic_timer mitigations=off rodata=off nokaslr norandmaps cryptomgr.notests "
    "initcall_blacklist=load_system_certificate_list"
)
"""What they add in virtual time, where each instruction takes its time: no self-tests, no work-arounds for faults
that this processor does not have, no certificates, as nothing there is signed, and libraries at the same addresses in
all programs, so that QEMU translates them once."""

SYSCTLS = (("net.core.rmem_max", "2147483647"), ("net.core.wmem_max", "2147483647"))
"""The sysctls of a virtual machine's own kernel: it must not limit socket buffers."""

RESUME = """\
name=$1 addresses=$2 memory=$3
shift 3
printf '\\n%s %s %s\\n' "$name" "$(date '+%s %N')" "$addresses" > "/run/$name.told"
printf '%s\\n' 'migrate_set_capability x-ignore-shared on' 'migrate_incoming fd:3' > "/run/$name.orders.in"
ln -s /dev/null "/run/$name.orders.out"
exec "$@" -name "$name,debug-threads=on" -chardev "pipe,id=orders,path=/run/$name.orders" -mon orders \
    -chardev "socket,id=agent,path=/run/$name.agent,server=on,wait=off" \
    -object "memory-backend-file,id=ram,size=$memory,mem-path=$0/memory,share=off" \
    -incoming defer -global migration.announce-rounds=0 \
    < "/run/$name.told" 3< "$0/state"
"""
"""Starts a machine from a snapshot, and tells it on its console the time and the addresses of its cards (`vminit.c`).
QEMU maps the file of its memory for it alone, and reads of it what the machine uses. It must not announce the machine,
as after a move to another computer: the frames are none of the machine's, and one of QEMU's threads would keep the
other from the timer for the next ones for ever.
"""

CLOCK_START_S = 1000
"""When lab time starts, in s since 1970, where machines start from snapshots: Linux refuses a clock before its own
start, and a machine's kernel has run for some seconds when it goes on.
"""

AWAIT_LINK = """\
for device; do
    tries=0
    until [ "$(cat "/sys/class/net/$device/carrier")" = 1 ]; do
        tries=$((tries + 1))
        [ $tries -le 100 ] || { echo "$device finds nobody at its other end" >&2; exit 1; }
        sleep 0.1
    done
done
"""
"""Waits until cards have found a partner, for 10 s at most."""

NOBODYS = "02:54:42:ff:ff"
"""How the MAC addresses of a snapshot's cards begin, which end with their number; a machine's own come later."""

_DRIVERS = {"virtio": "virtio-net-pci", "e1000": "e1000"}
_ONE_BY_ONE = (
    "gso",
    "guest_tso4",
    "guest_tso6",
    "guest_ecn",
    "guest_ufo",
    "host_tso4",
    "host_tso6",
    "host_ecn",
    "host_ufo",
)
"""The features by which virtio passes on superpackets, which `nic: plain` switches off."""


@dataclass(frozen=True)
class Start(Command):
    """Starts a virtual machine."""

    node: str
    qemu: Words
    resumed: Resumed | None = None

    tool = "vm"

    @property
    def words(self) -> Words:
        return (program_name(self.node), *self.qemu)

    @property
    def process(self) -> Words:
        return self.qemu

    @property
    def step(self) -> StartVm:
        name = program_name(self.node)
        out = output_file(name)
        return StartVm(self.qemu, f"start {name}", self.where, background=name, out=out, resumed=self.resumed)

    @property
    def line(self) -> str:
        return f"{super().line} &"


def takes_ns(cpu: str | None, instructions: int) -> int:
    """How long a machine in virtual time computes for so many instructions."""
    return instructions << SHIFTS[cpu or FASTEST]


def program_name(node: str) -> str:
    """The name of QEMU among the programs in the background."""
    return f"vm-{node}"


def console_file(node: str) -> str:
    """The file with the output of a machine's console."""
    return output_file(program_name(node))


def socket_file(node: str) -> str:
    """The socket by which the host reaches the guest agent."""
    return f"/run/{program_name(node)}.agent"


def is_resumed(vm: Vm, *, counted: bool) -> bool:
    """Whether a machine starts from a snapshot of one that has booted; not if it has a disk."""
    return counted and vm.image is None


def memory_word(memory_bytes: int) -> str:
    """As QEMU has it: `512M`."""
    return f"{memory_bytes >> 20}M"


def snapshot_words(resumed: Sequence[str]) -> tuple[str, ...]:
    """Of the words that start a machine from a snapshot those that all such machines share: QEMU, and what the machine
    is made of.
    """
    return tuple(resumed[resumed.index("env") :])


def kernel_word(vm: Vm, word: str) -> Placeholder:
    """A placeholder that depends on the kernel: `@modules/NAME@`."""
    return Placeholder(f"{word}/{vm.kernel or ANY}")


def root_of(vm: Vm) -> str:
    """`disk` or `host`: where a machine that does not boot itself has its root file system."""
    return "host" if vm.image is None else "disk"


def initramfs_word(vm: Vm) -> Placeholder:
    """What its kernel starts from, with the modules that it needs and no others: `@initramfs/host-virtio/NAME@`."""
    return kernel_word(vm, f"{INITRAMFS}/{root_of(vm)}-{vm.model}")


def device_mac(topology: Topology, port: Port) -> str:
    """The MAC address of a device in a node's namespace. That of one which leads to a virtual machine must differ from
    the machine's own: its bridge would keep the machine's frames.
    """
    is_outside = topology.node(port.node).kind.runs_in == "virtual machine"
    return port.mac.replace("02:54:42", "02:54:56", 1) if is_outside else port.mac


def inside(command: Command, node: str) -> Command:
    """A command for a node's namespace, to be carried out in the virtual machine."""
    return replace(command, netns=None, on=node)


def outside(node: Node, topology: Topology, book: AddressBook, netns: str) -> Iterator[Command]:
    """Bridges between the node's devices and taps."""
    for number, port in enumerate(book.ports_of(node.name)):
        bridge, tap, mtu = f"vm{number}", f"tap{number}", str(topology.link(port.link).mtu_bytes)
        words = ("link", "add", bridge, "mtu", mtu, "type", "bridge", "stp_state", "0", "mcast_snooping", "0")
        yield Raw("ip", words, netns=netns)
        yield Raw("ip", ("tuntap", "add", "dev", tap, "mode", "tap"), netns=netns)
        yield Device(tap, "mtu", mtu, netns=netns)
        for device in (port.device, tap):
            yield Device(device, "master", bridge, netns=netns)
        for device in (port.device, tap, bridge):
            yield Up(device, netns=netns)


def memory_bytes(topology: Topology) -> int:
    """What all machines of a topology take of a lab kernel's memory, at most."""
    machines = (node.vm for node in topology.nodes if node.vm is not None)
    return sum(vm.memory_bytes + HYPERVISOR_BYTES + (TRANSLATED_MIB << 20) for vm in machines)


def starts(topology: Topology, book: AddressBook, nics: dict[str, Nic], *, counted: bool) -> Iterator[Command]:
    """Starts QEMU for each virtual machine. `counted`: instructions drive the machines' clocks."""
    for node in topology.nodes:
        if node.vm is not None:
            words = tuple(_words(node, node.vm, book, nics[node.name], counted=counted))
            snapshot = Resumed(node.vm.memory_bytes, len(book.ports_of(node.name)))
            resumed = snapshot if is_resumed(node.vm, counted=counted) else None
            yield Start(node.name, words, resumed, netns=f"{PREFIX}{node.name}")


def reach_steps(topology: Topology, book: AddressBook, *, counted: bool) -> Iterator[ReachVm]:
    """Waits for one machine after the other; all of them boot at the same time. In one that starts from a snapshot the
    first program has looked at the names of the cards.
    """
    for node in topology.nodes:
        if node.vm is not None:
            yield ReachVm(
                node.name,
                program=program_name(node.name),
                console=console_file(node.name),
                socket=socket_file(node.name),
                limit_s=BOOT_LIMIT_S,
                devices=()
                if is_resumed(node.vm, counted=counted)
                else tuple((port.mac, port.device) for port in book.ports_of(node.name)),
            )


def link_steps(topology: Topology, book: AddressBook) -> Iterator[Run]:
    """Waits for the cards that look for a partner when they are switched on: an e1000 takes two seconds and more."""
    for node in topology.nodes:
        if node.vm is not None and node.vm.model == "e1000":
            devices = (port.device for port in book.ports_of(node.name))
            words = ("sh", "-c", AWAIT_LINK, "sh", *devices)
            yield Run(words, f"wait for the cards of {node.name}", Location(on=node.name))


def _words(node: Node, vm: Vm, book: AddressBook, nic: Nic, *, counted: bool = False) -> Iterator[str]:
    macs = [port.mac for port in book.ports_of(node.name)]
    if is_resumed(vm, counted=counted):
        yield from (
            "sh",
            "-c",
            RESUME,
            str(SNAPSHOT),
            program_name(node.name),
            " ".join(macs),
            memory_word(vm.memory_bytes),
        )
        macs = [f"{NOBODYS}:{number:02x}" for number in range(len(macs))]
    yield from ("env", f"LD_PRELOAD={CLOCK}", PROGRAM) if counted else (PROGRAM,)
    if not is_resumed(vm, counted=counted):
        yield from ("-name", f"{node.name},debug-threads=on")
    yield from ("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio")
    yield from _processor(vm, counted=counted)
    yield from ("-smp", str(vm.cpus))
    yield from ("-m", memory_word(vm.memory_bytes), "-object", "rng-random,id=rng,filename=/dev/urandom")
    yield from ("-device", "virtio-rng-pci,rng=rng")
    yield from _root(vm, counted=counted)
    if not is_resumed(vm, counted=counted):
        yield from ("-chardev", f"socket,id=agent,path={socket_file(node.name)},server=on,wait=off")
    yield from ("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0")
    for number, mac in enumerate(macs):
        vhost = ",vhost=on" if vm.vhost else ""
        yield from ("-netdev", f"tap,id=net{number},ifname=tap{number},script=no,downscript=no{vhost}")
        plain = [f"{feature}=off" for feature in _ONE_BY_ONE] if (vm.model, nic) == ("virtio", "plain") else []
        yield from ("-device", ",".join((_DRIVERS[vm.model], f"netdev=net{number}", f"mac={mac}", "romfile=", *plain)))


def _processor(vm: Vm, *, counted: bool) -> Iterator[str]:
    """In virtual time one that keeps the time: an instruction takes as long as its speed says, and whoever is ahead
    waits.
    """
    if not counted:
        yield from ("-machine", f"q35,accel={ACCELERATOR}", "-cpu", str(CPU))
        return
    memory = ",memory-backend=ram" if is_resumed(vm, counted=counted) else ""
    yield from ("-machine", f"q35{memory}", "-accel", f"tcg,thread=single,tb-size={TRANSLATED_MIB}", "-cpu", PROCESSOR)
    yield from ("-icount", f"shift={SHIFTS[vm.cpu or FASTEST]},sleep=on,align=on", "-rtc", "clock=vm")


def drive(image: str) -> str:
    """QEMU's word for a disk, to which nothing is written."""
    return f"file={image.replace(',', ',,')},if=virtio,snapshot=on"


def _root(vm: Vm, *, counted: bool) -> Iterator[str]:
    if vm.image is not None:
        yield from ("-drive", drive(vm.image))
    if vm.boots_itself:
        return
    append = f"{BOOT_WORDS} {COUNTED_WORDS}" if counted else BOOT_WORDS
    append += f" testbed.root={root_of(vm)}"
    append += f" testbed.agent={AGENT}" if vm.image is None else ""
    append += " testbed.waits=1" if is_resumed(vm, counted=counted) else ""
    yield from ("-kernel", str(kernel_word(vm, KERNEL)), "-initrd", str(initramfs_word(vm)), "-append", append)
    shares = (
        {"modules": kernel_word(vm, MODULES)}
        if vm.image is not None
        else {"root": ROOT, "modules": kernel_word(vm, MODULES)}
    )
    for tag, path in shares.items():
        options = "security_model=none,readonly=on,multidevs=remap"
        yield from ("-virtfs", f"local,path={path},mount_tag={tag},{options}")
