"""What `testbed cc` says of changes whose effect is known, and when: `python -m benchmarks faults [NAME …]`.

Each is judged by the suite that its author would choose, and again without a change, which shall measure nothing. The
controls in a file of their own are made of the kernel's tcp_cubic.c. Prints a table in Markdown; results are in `-o`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from testbed.commands.candidate.contender import SYSCTL
from testbed.commands.candidate.suite import chosen
from testbed.commands.measure.cc import QUICK
from testbed.kernel.image.workbench import open_workbench

from .mutants import HEADS, judged
from .rules import table

CUBIC = "net/ipv4/tcp_cubic.c"
PATCHES = Path(__file__).parents[1] / "tests" / "kernels"
Replacements = tuple[tuple[str, str], ...]
OF_BPF = (
    (r"#include <linux/btf\w*\.h>\n", ""),
    (r"\b__bpf_kfunc ", ""),
    (r"BTF_KFUNCS_START\(.*?BTF_KFUNCS_END\(\w+\)\n", ""),
    (r"static const struct btf_kfunc_id_set .*?\n};\n", ""),
    (r"\tint ret;\n\n", ""),
    (r"\tret = register_btf_kfunc_id_set\(.*?return ret;\n", ""),
)
"""What is about BPF, and cannot be in a kernel twice."""
NO_UNDO: Replacements = (
    ("\t.undo_cwnd\t= tcp_reno_undo_cwnd,\n", "\t.undo_cwnd\t= keeps_cwnd,\n"),
    ("static struct tcp_congestion_ops", "static u32 keeps_cwnd(struct sock *sk)\n{\n"
     "\treturn tcp_snd_cwnd(tcp_sk(sk));\n}\n\nstatic struct tcp_congestion_ops"),
)  # fmt: skip
"""It does not take a reduction back that nothing was lost for: it starves where packets overtake."""
THIRD_LOSS: Replacements = (
    ("\tca->epoch_start = 0;\t/* end of epoch */\n",
     "\tif (++ca->unused % 3 == 0)\n\t\treturn tcp_snd_cwnd(tp);\n\n\tca->epoch_start = 0;\t/* end of epoch */\n"),
)  # fmt: skip
"""It keeps its window at every third reduction."""


def control_file(source: str, name: str, replacements: Replacements = ()) -> str:
    """The kernel's tcp_cubic.c as a control of another name in a file of its own, with these texts replaced."""
    for pattern, new in OF_BPF:
        source, count = re.subn(pattern, new, source, flags=re.DOTALL)
        assert count, f"BUG: tcp_cubic.c has no {pattern}"
    for old, new in (('.name\t\t= "cubic"', f'.name\t\t= "{name}"'), *replacements):
        assert source.count(old) == 1, f"BUG: tcp_cubic.c has {old!r} {source.count(old)} times"
        source = source.replace(old, new)
    return source


@dataclass(frozen=True)
class Fault:
    """A control of `replacements` in a file of its own, or what `what` names; judged by `--quick`, or by groups."""

    expected: str
    what: str = ""
    replacements: Replacements = ()
    groups: tuple[str, ...] = ()


FAULTS: Mapping[str, Fault] = {
    "cubicnoundo": Fault("worse", replacements=NO_UNDO, groups=("reordering",)),
    "cubicforgets": Fault("not the same", replacements=THIRD_LOSS),
    "cubicalike": Fault("the same"),
    "beta-512": Fault("not the same", str(PATCHES / "cubic-beta-512.patch")),
    "no-sack": Fault("worse", "sysctl:net.ipv4.tcp_sack=0"),
    "refactored": Fault("the same, byte for byte", str(PATCHES / "cubic-refactored.patch")),
}


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks faults")
    parser.add_argument("names", nargs="*", default=[*FAULTS], metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("-o", "--output", type=Path, default=Path("results/faults"))
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args(words)
    bench = open_workbench()
    if not all(FAULTS[name].what.startswith(SYSCTL) for name in asked.names):
        bench.base()
    cubic = bench.path(CUBIC).read_text()
    asked.output.mkdir(parents=True, exist_ok=True)
    made: list[tuple[str, ...]] = []
    for name in asked.names:
        fault = FAULTS[name]
        what = fault.what or str(asked.output / f"tcp_{name}.c")
        if not fault.what:
            Path(what).write_text(control_file(cubic, name, fault.replacements))
        files = chosen((), fault.groups, is_quick=not fault.groups, is_full=False)
        suite = f"--group {' '.join(fault.groups)}" if fault.groups else "--quick"
        for run in ("first", "second"):
            found = judged(what, asked.output / "cc", replace(QUICK, wall_s=None), files, asked.jobs)
            made.append((f"{name}, {suite}, {run}", fault.expected, *found.words))
            print(f"| {' | '.join(made[-1])} |", flush=True)
    print(f"\n{table(('candidate', 'expected', *HEADS[2:]), made)}")
    return 0
