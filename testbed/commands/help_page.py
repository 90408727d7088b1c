"""The help of a command: usage, what it does, arguments, options and examples; and what was meant by a wrong word."""

from __future__ import annotations

import inspect
import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import typer
import typer.core

from ..error import did_you_mean

WIDTH_MAX, WIDTH_MIN = 80, 40
NAMES_MAX, NAME_WIDTH = 30, 10
"""A longer name of an option stands on a line of its own; the width of the column if all are longer."""

Example = tuple[str, str]
"""What a command line does, and the line."""

UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""Of click, or of the copy of it that newer versions of typer carry."""

NOT_A_NUMBER = re.compile(r"(.*) is not (a valid (int|float)|in the range )", re.DOTALL)
"""What click says of a word that is no number, or none of those that an option can be."""


def examples(*shown: Example) -> str:
    """The examples as the end of a help page."""
    return "\n".join(line for what, command in shown for line in (f"  {what}:", f"    {command}"))


def group(about: str, *shown: Example) -> typer.Typer:
    """A command of commands, without any yet."""
    settings: dict[str, Any] = {"no_args_is_help": True, "add_completion": False, "rich_markup_mode": None}
    return typer.Typer(cls=Group, help=about, epilog=examples(*shown), **settings)


class Command(typer.core.TyperCommand):
    """A command with a help page of ours."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(page(self, ctx))

    def get_usage(self, ctx: Any) -> str:
        return usage(self, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return [*_parse(super().parse_args, self, ctx, args)]


class Group(typer.core.TyperGroup):
    """A command of commands with a help page of ours."""

    titles: ClassVar[dict[str, tuple[str, ...]] | None] = None
    """The commands under each title of the help; None is one title for all."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(page(self, ctx, self.titles or {"Commands": tuple(self.list_commands(ctx))}))

    def get_usage(self, ctx: Any) -> str:
        return usage(self, ctx)

    def line_of(self, ctx: Any, name: str) -> str:
        """What a command does, in a line."""
        return _paragraphs(self.get_command(ctx, name))[0]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return [*_parse(super().parse_args, self, ctx, args)]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.list_commands(ctx):
            ctx.fail(f"There is no command {args[0]!r}{did_you_mean(args[0], self.list_commands(ctx))}.")
        return super().resolve_command(ctx, args)


def _parse(parse: Any, command: Any, ctx: Any, args: list[str]) -> Any:
    """The option that was probably meant is part of the error, and so are the numbers that an option can be."""
    try:
        return parse(ctx, args)
    except typer.BadParameter as error:
        _say_numbers(error)
        raise
    except UsageError as error:
        if hasattr(error, "possibilities"):
            known = [word for param in command.get_params(ctx) for word in _options(param)]
            _say(error, known)
        raise


def _say(error: Any, known: Sequence[str]) -> None:
    error.possibilities = None
    error.message = f"There is no option {error.option_name}{did_you_mean(error.option_name, known)}."


def _say_numbers(error: Any) -> None:
    """Also of a whole number that is too small or too large, of which click says 1<=x<=100."""
    kind, word = getattr(error.param, "type", None), NOT_A_NUMBER.match(error.message)
    if word is None or kind is None:
        return
    whole = "a whole number" if kind.name.startswith("int") else "a number"
    low, high = getattr(kind, "min", None), getattr(kind, "max", None)
    bounds = "" if low is None else f", {low} or more" if high is None else f", {low} to {high}"
    error.message = f"{word[1]}; allowed: {whole}{bounds}"


def page(command: Any, ctx: Any, titles: dict[str, tuple[str, ...]] | None = None) -> str:
    """The whole help, at most 80 columns wide."""
    width = max(min(shutil.get_terminal_size().columns, WIDTH_MAX), WIDTH_MIN)
    params = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    lines = [*textwrap.wrap(usage(command, ctx), width, subsequent_indent=" " * 7, break_on_hyphens=False), ""]
    for paragraph in _paragraphs(command):
        lines += [*_wrapped(paragraph, width, 2), ""]
    arguments = [(_metavar(param), param.help or "") for param in params if not _options(param) and param.help]
    options = [(_name(param), _said(param, ctx)) for param in params if _options(param)]
    sections = {"Arguments": arguments, "Options": options}
    sections |= {
        title: [(name, command.line_of(ctx, name)) for name in names] for title, names in (titles or {}).items()
    }
    column = max((len(name) for title in titles or () for name, _ in sections[title]), default=0)
    for title, rows in sections.items():
        if rows:
            lines += [f"{title}:", *_rows(rows, width, column if title in (titles or {}) else 0), ""]
    if command.epilog:
        lines += [*(["Examples:"] if command.epilog.startswith("  ") else []), *_epilog(command.epilog, width)]
    return "\n".join(lines).rstrip() + "\n"


def usage(command: Any, ctx: Any) -> str:
    """Such as `Usage: testbed run [OPTIONS] [SCENARIO]`."""
    words = ["[OPTIONS]"]
    for param in command.params:
        if not _options(param) and not param.hidden:
            name = _metavar(param)
            words.append(name if param.required or name.startswith("--") else f"[{name}]")
    words += ["COMMAND ..."] if isinstance(command, Group) else []
    return f"Usage: {ctx.command_path} {' '.join(words)}"


def _paragraphs(command: Any) -> list[str]:
    text = inspect.cleandoc(command.help or "")
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def _epilog(text: str, width: int) -> Iterator[str]:
    """Examples are left as they are, so that they can be copied; a sentence is wrapped."""
    yield from text.splitlines() if text.startswith("  ") else textwrap.wrap(text, width)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    space = " " * indent
    return textwrap.wrap(
        text, width, initial_indent=space, subsequent_indent=space, break_on_hyphens=False, break_long_words=False
    )


def _rows(rows: Sequence[tuple[str, str]], width: int, column: int) -> Iterator[str]:
    """Names to the left, and what they mean to the right; below a name that is too long."""
    column = column or max((len(name) for name, _ in rows if len(name) <= NAMES_MAX), default=NAME_WIDTH)
    for name, said in rows:
        text = _wrapped(said, width, column + 4) or [""]
        if len(name) <= column:
            yield f"  {name:{column}}  {text[0].strip()}".rstrip()
            yield from text[1:]
        else:
            yield from (f"  {name}", *text)


def _options(param: Any) -> tuple[str, ...]:
    """The words of an option; none for an argument."""
    return (*param.opts, *param.secondary_opts) if param.param_type_name == "option" else ()


def choices(param: Any) -> tuple[str, ...]:
    """The words that a parameter can be, if it is one of a few."""
    words = (param.metavar or "").split("|")
    if len(words) > 1 and all(word.islower() for word in words):
        return tuple(words)
    kind = getattr(param, "type_descriptor", None) or param.type
    return tuple(str(getattr(each, "value", each)) for each in getattr(kind, "choices", None) or ())


def takes_value(param: Any) -> bool:
    """Whether a word follows the option."""
    return not param.is_flag and not getattr(param, "count", False) and param.name != "help"


def _metavar(param: Any) -> str:
    name = param.metavar or "|".join(choices(param)) or str(param.name).upper()
    return f"{name}..." if param.nargs == -1 and not name.endswith("...") else str(name)


def _name(param: Any) -> str:
    words = ", ".join(sorted(param.opts, key=len)) + (
        f" / {', '.join(param.secondary_opts)}" if param.secondary_opts else ""
    )
    return f"{words} {_metavar(param)}" if takes_value(param) else words


def _said(param: Any, ctx: Any) -> str:
    """What an option means, and what it is when it is left out."""
    if param.name == "help":
        return "Show this help."
    default = param.get_default(ctx, call=False) if takes_value(param) else None
    said = str(getattr(default, "value", default))
    return f"{param.help} (default: {said})" if default not in (None, (), []) and param.show_default else param.help
