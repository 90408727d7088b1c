"""What a kernel says on its console, or among its messages, when it breaks. Pure, no I/O."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

BAD = re.compile(r"Kernel panic|Oops|\bBUG\b|WARNING: |UBSAN|KASAN|general protection|Segfault|Internal error")
HEAD, TAIL, WIDTH = 60, 12, 400
"""Lines that are kept of what a kernel says from its first bad line on, and of the end, and the characters of a line. A
panic with its stack has some 45 lines in User-Mode Linux.
"""
BETWEEN = 20
"""Kinds that are kept of what is between, each with its first bad line and the line with its function."""
LEFT_OUT = re.compile(r"\(\d+ lines are left out\)")
PLACE = re.compile(r"(?<=\.[ch])(?::\d+)+")
OF_CHANCE = re.compile(
    r"^\s*\[[^]]*\]\s*|\bCPU#\d+: \S+|\b(?:CPU|PID): \d+|\+?\b0x[0-9a-f]+\b(?:/0x[0-9a-f]+)?|\b[0-9a-f]{16}\b"
    rf"|{PLACE.pattern}|\.(?:isra|constprop|part)\.\d+|\.cold\b|\[#\d+\]"
)
"""What differs from one time to the next, or after a change elsewhere in a file, that a kernel says the same."""
CALLED = re.compile(r"\b([a-z_][\w.]*)\+0x(?!0/)[0-9a-f]+/0x[0-9a-f]+", re.IGNORECASE)
"""A function of a stack. Where one begins is no place that another returns to: it stands behind a call, in the function
before it, that does not return.
"""
HELPERS = re.compile(
    r"(?:v|nmi_)?panic|check_panic_on_warn|add_taint"
    r"|(?:__)?dump_stack(?:_lvl|_print_info)?|show_(?:stack|regs|trace_log_lvl)"
    r"|__warn(?:_printk)?|warn_slowpath_fmt|(?:__)?report_bug|handle_bug|refcount_warn_saturate|__stack_chk_fail"
    r"|segv(?:_handler)?|bad_segv|fatal_sigsegv|sig_handler(?:_common)?|hard_handler|relay_signal|userspace"
    r"|die(?:_addr)?|__die(?:_body|_header)?|oops_(?:begin|end|enter|exit)|page_fault_oops|kernelmode_fixup_or_oops"
    r"|(?:__)?bad_area(?:_nosemaphore|_access_error)?|do_(?:user|kern)_addr_fault|do_error_trap|do_trap"
    r"|(?:asm_)?exc_(?:page_fault|general_protection|invalid_op|divide_error|double_fault|stack_segment|int3|overflow"
    r"|bounds|alignment_check|segment_not_present|invalid_tss|control_protection|device_not_available)"
    r"|ubsan_epilogue|__ubsan_handle_\w+|kasan_report|print_report|__asan_\w+"
)
"""Functions that tell of a fault, and have none themselves. The names are whole, for a congestion control is called as
its author likes.
"""
OUT_OF_MEMORY = "ran out of memory"
"""Of a guest; its kernel may panic then, which is no fault of it."""
OOPS, WARNED = 1 << 7, 1 << 9
"""Bits of /proc/sys/kernel/tainted (Documentation/admin-guide/tainted-kernels.rst)."""
ANNOUNCED = "console ends:"
"""Ends the line of an error behind which a console follows."""
Places = dict[str, dict[tuple[str, ...], int]]
"""By kind: the places in files that its lines name, numbered as they are seen."""


def line(said: str) -> str | None:
    """The first line that says that the kernel broke; None if none does."""
    return next((each for each in said.splitlines() if BAD.search(each)), None)


def kinds(*said: str, places: Places | None = None) -> frozenset[str]:
    """The lines that say that the kernel broke, without time, process and places, each with the first function of the
    stack behind it, for many faults have one line; those that differ in their places only are numbered, over all texts
    of one kernel. `places` has the places of its other texts. What `told` makes of a text has the same lines.
    """
    places = {} if places is None else places
    return frozenset(kind for each in said for kind, _, _ in _faults(_lines(each), places))


def _lines(said: str) -> Sequence[str]:
    return [each[:WIDTH] for each in said.splitlines() if each.strip()]


def _faults(lines: Sequence[str], places: Places) -> Iterator[tuple[str, int, int | None]]:
    """Of each bad line: its kind, its number, and that of the line with its function (None: there is none). `places`
    are those that were seen before.
    """
    bad = [number for number, each in enumerate(lines) if BAD.search(each)]
    for at, end in zip(bad, [*bad[1:], len(lines)], strict=False):
        number, function = next(_functions(lines, at + 1, end), (None, ""))
        kind = f"{OF_CHANCE.sub('', lines[at]).strip()} {function}".strip()
        place = places.setdefault(kind, {}).setdefault(tuple(PLACE.findall(lines[at])), len(places[kind]) + 1)
        yield kind if place == 1 else f"{kind} ({place})", at, number


def _functions(lines: Sequence[str], first: int, end: int) -> Iterator[tuple[int, str]]:
    """Those of a stack, each with the number of its line, up to where lines are left out."""
    for number in range(first, end):
        if LEFT_OUT.fullmatch(lines[number]):
            return
        names = (OF_CHANCE.sub("", name) for name in CALLED.findall(lines[number]))
        yield from ((number, name) for name in names if not HELPERS.fullmatch(name))


def told(said: str, known: Container[str] = (), places: Places | None = None) -> str:
    """From the first bad line to the end, whose kind is none of `known`; without one, the end. What is long is left out
    in its middle. `places` has the places of the other texts of this kernel.
    """
    lines = _lines(said)
    first = next((at for kind, at, _ in _faults(lines, {} if places is None else places) if kind not in known), None)
    return "\n".join(lines[-TAIL:] if first is None else _short(lines[first:]))


def of_failure(error: str) -> str | None:
    """What the kernel said when it broke, of a trial's failure with its console; None if it did not break."""
    about, _, console = error.partition(f"{ANNOUNCED}\n")
    return None if OUT_OF_MEMORY in about or line(console) is None else told(console)


def _short(lines: Sequence[str]) -> Sequence[str]:
    last = len(lines) - TAIL
    first, kept, between = set[str](), set[str](), list[int]()
    for kind, at, function in _faults(lines, {}):
        rows = [at] if function is None else [at, function]
        if at < HEAD:
            first.add(kind)
            between += [each for each in rows if each >= HEAD]
        elif at < last and kind not in first | kept and len(kept) < BETWEEN:
            kept.add(kind)
            between += rows
    left_out = last - HEAD - sum(number < last for number in between)
    if left_out <= 1:
        return lines
    return [*lines[:HEAD], *(lines[each] for each in between), f"({left_out} lines are left out)", *lines[last:]]


def in_line(error: str) -> str:
    """An error in one line: its first, and where that announces a console, what tells most of it."""
    first, _, rest = error.partition("\n")
    if not first.endswith(ANNOUNCED):
        return first
    last = next((each for each in reversed(rest.splitlines()) if each.strip()), "")
    return f"{first} {(line(rest) or last).strip()}".rstrip()
