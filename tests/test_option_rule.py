"""Options that go together, and those that do not: the tables say it, and the commands refuse by them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from comparing import said_by

from testbed import cli
from testbed.commands.conclude import compare
from testbed.commands.measure import run
from testbed.commands.option_rule import Never, Only, refuse
from testbed.error import UserError

TOGETHER = "--until-decided with --base DIR, or with --axis KEY (and --base VALUE --candidate VALUE)"


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("quickstart", "--format", "json"), "--format json has no use here; allowed: --dry-run --format json"),
        *((("quickstart", option, "1"), f"{option} says what to compare the run with; allowed: {TOGETHER}")
          for option in ("--base", "--axis", "--candidate", "--tolerance", "--budget")),
        *((("quickstart", "--until-decided", *more),
           "--until-decided runs a whole scenario; allowed: it without --dry-run, --repeat and --shard")
          for more in (("--dry-run",), ("--shard", "1/2"))),
        (("quickstart", "--any-worker"), "--any-worker has no use without --on; allowed: --on WHERE --any-worker"),
        (("quickstart", "--on", "local:2", "--until-decided", "--axis", "rtt"),
         "--on runs a scenario; allowed: it without --repeat and --until-decided"),
        *((("--repeat", "trial", *more),
           "--repeat runs a trial exactly as it is stored; allowed: --repeat TRIAL_DIR without -o, --set, --quick, "
           "--dry-run, --live and --shard")
          for more in (("-o", "x"), ("--output", "x"), ("--set", "seed=1"), ("--quick",), ("--dry-run",), ("--live",),
                       ("--shard", "1/2"))),
        (("quickstart", "--dry-run", "--live"),
         "--dry-run runs nothing, so --live has nothing to show; allowed: one of them"),
    ],
)  # fmt: skip
def test_options_of_run_that_do_not_go_together_are_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], refusal: str
) -> None:
    assert said_by(capsys, "run", *words) == (2, "", f"testbed: {refusal}\n")


def test_an_option_with_its_default_is_not_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = said_by(capsys, "run", str(tmp_path / "none.yaml"), "--format", "table")
    assert code == 2
    assert "--format" not in err


def test_a_cluster_is_asked_how_many_trials_run_side_by_side_before_anything_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = ("--on", "local:3", "-o", str(tmp_path / "run"))
    code, out, _ = said_by(capsys, "run", "quickstart", *place, "--dry-run", "--format", "json")
    assert code == 0
    assert json.loads(out)["jobs"] == 3
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("rules", [run.RULES, compare.RULES], ids=["run", "compare"])
def test_every_rule_names_options_that_the_command_has(rules: tuple[Only | Never, ...]) -> None:
    name = "run" if rules is run.RULES else "compare"
    command = cli.Commands().get_command(None, name)
    known = {option for param in command.params for option in param.opts}
    for rule in rules:
        named = rule.options if isinstance(rule, Only) else (rule.option, *rule.others)
        assert {*named} <= known


def test_a_rule_is_broken_by_what_is_given_alone_and_kept_by_its_mode() -> None:
    rule = Only(("--a", "--b"), "--m", "{option} {value} needs --m")
    refuse({}, (rule,))
    refuse({"--b": 1, "--m": True}, (rule,))
    with pytest.raises(UserError, match="--b 1 needs --m"):
        refuse({"--b": 1}, (rule,))
    refuse({"--a": 1}, (Only(("--a",), "two runs", "no"),), ("two runs",))
    with pytest.raises(UserError, match=r"^--m goes without --a and --b$"):
        refuse({"--m": 1, "--b": 1}, (Never("--m", ("--a", "--b"), "{option} goes without {others}"),))
