"""Which options of a command go together: tables, from which refusals follow, and the beginnings of help texts. Pure.

An option is given if it was typed with another value than its default. Refusals are sentences with {option}, {value},
{others} in them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import typer

from ..codec.frozen import dataclass
from ..error import UserError


@dataclass(frozen=True)
class Only:
    """Options that mean something only with `mode`: another option, or a kind of what is named ("two runs")."""

    options: tuple[str, ...]
    mode: str
    refusal: str

    def help(self, text: str) -> str:
        return f"With {self.mode}: {text}"

    def broken(self, given: Mapping[str, Any], kinds: Collection[str]) -> str | None:
        alone = [option for option in self.options if option in given]
        if not alone or self.mode in given or self.mode in kinds:
            return None
        return self.refusal.format(option=alone[0], value=given[alone[0]])


@dataclass(frozen=True)
class Never:
    """An option that goes together with none of `others`."""

    option: str
    others: tuple[str, ...]
    refusal: str

    def broken(self, given: Mapping[str, Any], kinds: Collection[str]) -> str | None:
        if self.option not in given or not any(other in given for other in self.others):
            return None
        *most, last = self.others
        return self.refusal.format(option=self.option, others=f"{', '.join(most)} and {last}" if most else last)


def given_in(context: typer.Context) -> dict[str, Any]:
    """The options of a command that were given, as messages name them, and their values."""
    options = [(param, param.name) for param in context.command.params if param.param_type_name == "option"]
    return {
        param.opts[0]: context.params[name]
        for param, name in options
        if name and _is_given(context, name, param.get_default(context))
    }


def _is_given(context: typer.Context, name: str, default: Any) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE" and context.params[name] != default


def refuse(given: Mapping[str, Any], rules: Iterable[Only | Never], kinds: Collection[str] = ()) -> None:
    """Raises UserError for the first rule that is broken; `kinds` are those that the arguments name."""
    for rule in rules:
        if refusal := rule.broken(given, kinds):
            raise UserError(refusal)
