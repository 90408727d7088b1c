"""The faults that `python -m benchmarks mutants` draws: each is one place of the code, and a patch that applies."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path

import pytest

from benchmarks.mutation import OPERATORS, drawn, places

CODE = """\
#include <linux/foo.h>
#define A_FEW 8		/* 7 < 9 */
static const u8 v[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9,
};
static u32 foo(struct sock *sk, u32 x)
{
	struct foo *ca = inet_csk_ca(sk);

	/* if (x > 3) nothing */
	ca->cnt += x;
	ca->left = A_FEW;
	foo_reset(ca);
	if (x <= 5 && (ca->cnt == 6 || x))
		return min_t(u32, ca->cnt * 2, x << 1);
	pr_debug("a < b %u", x + 1);
	return 0;
}
module_param(beta, int, 0644);
"""


def changed(operator: str) -> set[str]:
    return {CODE[begin:end] + " → " + new for begin, end, new in places(CODE)[operator]}


def test_every_operator_has_its_places_and_no_others() -> None:
    assert changed("the bound of a comparison moves") == {"<= → <"}
    assert changed("a comparison is the opposite") == {"<= → >", "== → !="}
    assert changed("and for or") == {"&& → ||", "|| → &&"}
    assert changed("another operation") == {"* → /", "<< → >>"}
    assert changed("a step the other way") == {"+= → -="}
    assert changed("a number is doubled") == {"8 → 16", "5 → 10", "6 → 12", "2 → 4", "1 → 2", "0 → 1"}
    assert changed("min for max") == {"min → max"}
    condition = "x <= 5 && (ca->cnt == 6 || x)"
    assert changed("a condition never holds") == {f"{condition} → 0 && ({condition})"}
    assert changed("a condition always holds") == {f"{condition} → 1 || ({condition})"}
    assert changed("an assignment is left out") == {"ca->cnt += x → ", "ca->left = A_FEW → "}
    assert changed("a call is left out") == {"foo_reset(ca) → "}


def test_a_seed_draws_the_same_again_and_another_one_others() -> None:
    sources = {"net/a.c": CODE, "net/b.c": CODE.replace("foo", "bar")}
    first, again, other = ([*islice(drawn(sources, seed), 12)] for seed in (1, 1, 2))
    assert first == again != other
    assert [each.file for each in first] == ["net/a.c", "net/b.c"] * 6
    assert len({(each.file, each.text) for each in first}) == 12


@pytest.mark.parametrize("number", range(len(OPERATORS)))
def test_a_mutant_is_a_patch_of_one_line(tmp_path: Path, number: int) -> None:
    mutant = next(islice(drawn({"net/a.c": CODE}, 7), number, None))
    file = tmp_path / "net" / "a.c"
    file.parent.mkdir()
    file.write_text(CODE)
    subprocess.run(["patch", "-p1", "--fuzz=0"], input=mutant.patch, text=True, cwd=tmp_path, check=True)
    assert file.read_text() == mutant.text
    differ = [
        (one.strip(), other.strip())
        for one, other in zip(CODE.splitlines(), mutant.text.splitlines(), strict=True)
        if one != other
    ]
    assert differ == [(mutant.before, mutant.after)]
    assert CODE.splitlines()[mutant.line - 1].strip() == mutant.before
