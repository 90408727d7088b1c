"""`testbed completion`: prints the script that completes commands, options and names in a shell, and answers what can
follow on a command line. Reads and writes its cache, reads what names stand for.

To import a command takes up to two seconds, so what its options are is kept in the user's cache folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ... import __version__
from ...cache_folder import make, user_folder
from ...codec.frozen import dataclass
from ...error import UserError, one_of
from ...journal import unique
from .. import known
from ..help_page import Group, choices, takes_value
from ..known import shortened

if TYPE_CHECKING:
    pass


Words = list[tuple[str, str]]
"""Words that can follow, each with what it is."""


@dataclass(frozen=True)
class Param:
    """An option with its words, or an argument, which has none."""

    words: tuple[str, ...]
    metavar: str
    choices: tuple[str, ...]
    help: str
    takes_value: bool
    is_many: bool


@dataclass(frozen=True)
class Node:
    """A command: its parameters, and its commands with what they do. `takes_rest`: its first argument ends options."""

    params: tuple[Param, ...]
    commands: dict[str, str]
    takes_rest: bool


class Root(Group):
    """The command of all commands, each with a module of its own."""

    def source_of(self, name: str) -> Path:
        """The module that has a command."""
        raise NotImplementedError


def candidates(root: Root, ctx: Any, line: str) -> tuple[str, Words]:
    """Which files can follow as well ("files", "dirs" or "none"), and the words: for the last word of a line, which is
    cut at the cursor. The first word that is called as the program is where it begins.
    """
    words = split(line)
    at = next((at for at, word in enumerate(words) if os.path.basename(word) == "testbed"), 0)
    *before, current = words[at + 1 :] or [""]
    path: list[str] = []
    node = Node((), {name: root.line_of(ctx, name) for name in root.list_commands(ctx)}, False)
    while node.commands:
        name = next((word for word in before if not word.startswith("-")), None)
        if name is None:
            return "none", _fitting(node.commands.items(), current)
        before = before[before.index(name) + 1 :]
        path.append(name)
        if name not in node.commands or (found := _node(root, ctx, path)) is None:
            return "none", []
        node = found
    return _of(node, before, current)


def split(line: str) -> list[str]:
    """The words as a shell has them, the last of which may be half-written, or empty."""
    for end in ("", "'", '"'):
        with contextlib.suppress(ValueError):
            words = shlex.split(line + end)
            return words if words and not (end == "" and line[-1:].isspace()) else [*words, ""]
    return line.split(" ")


def _of(node: Node, before: Sequence[str], current: str) -> tuple[str, Words]:
    given: list[str] = []
    waiting: Param | None = None
    is_over = False
    for word in before:
        if waiting is not None:
            waiting = None
        elif word == "--":
            is_over = True
        elif word.startswith("-") and not is_over:
            option = _option(node, word)
            waiting = option if option is not None and option.takes_value and "=" not in word else None
        else:
            given.append(word)
            is_over = is_over or node.takes_rest
    if waiting is not None:
        return _values(waiting, current, before, given)
    if current.startswith("-") and not is_over:
        option = _option(node, current)
        if option is not None and "=" in current:
            name, _, value = current.partition("=")
            files, found = _values(option, value, before, given)
            return files, [(f"{name}={word}", said) for word, said in found]
        every = [(word, each.help) for each in node.params for word in each.words]
        return "none", _fitting(every, current)
    arguments = [each for each in node.params if not each.words]
    if len(given) < len(arguments):
        return _values(arguments[len(given)], current, before, given)
    if arguments and arguments[-1].is_many:
        return _values(arguments[-1], current, before, given)
    return "none", []


def _option(node: Node, word: str) -> Param | None:
    return next((each for each in node.params if word.partition("=")[0] in each.words), None)


def _values(param: Param, current: str, before: Sequence[str], given: Sequence[str]) -> tuple[str, Words]:
    if param.choices:
        return "none", _fitting(((word, "") for word in param.choices), current)
    files, find = VALUES.get(param.metavar, ("none", None))
    return files, _fitting([] if find is None else find(current, before, given), current)


def _fitting(words: Iterable[tuple[str, str]], current: str) -> Words:
    return [(word, said) for word, said in words if word.startswith(current)]


def _node(root: Root, ctx: Any, path: Sequence[str]) -> Node | None:
    """Of a command, from the cache unless its module has changed since."""
    name = path[0]
    source = root.source_of(name)
    file = user_folder() / "completion" / f"{name}.json"
    key = f"{__version__} {source} {source.stat().st_mtime_ns}"
    nodes: dict[str, Any] = {}
    with contextlib.suppress(OSError, ValueError):
        data = json.loads(file.read_text())
        nodes = data["nodes"] if data["key"] == key else {}
    if not nodes:
        nodes = {" ".join(words): asdict(node) for words, node in _nodes(root.get_command(ctx, name), ctx, (name,))}
        with contextlib.suppress(OSError):
            _keep(file, {"key": key, "nodes": nodes})
    found = nodes.get(" ".join(path))
    if found is None:
        return None
    params = tuple(
        Param(**{**each, "words": tuple(each["words"]), "choices": tuple(each["choices"])}) for each in found["params"]
    )
    return Node(params, found["commands"], found["takes_rest"])


def _nodes(command: Any, ctx: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node]]:
    params = tuple(
        Param(
            words=(*param.opts, *param.secondary_opts) if param.param_type_name == "option" else (),
            metavar=param.metavar or "",
            choices=choices(param),
            help=(param.help or "").partition(". ")[0].rstrip("."),
            takes_value=param.param_type_name == "option" and takes_value(param),
            is_many=param.nargs == -1,
        )
        for param in command.get_params(ctx)
        if not param.hidden
    )
    names = command.list_commands(ctx) if isinstance(command, Group) else []
    commands = {name: command.line_of(ctx, name) for name in names}
    yield path, Node(params, commands, command.context_settings.get("allow_interspersed_args") is False)
    for name in names:
        yield from _nodes(command.get_command(ctx, name), ctx, (*path, name))


def _keep(file: Path, data: object) -> None:
    make(file.parent)
    fresh = file.with_name(unique(".fresh"))
    fresh.write_text(json.dumps(data))
    fresh.replace(file)


Find = Callable[[str, Sequence[str], Sequence[str]], Iterable[tuple[str, str]]]
"""The current word, all words before it, and the arguments among them, to words."""


def _named(*kinds: str) -> Find:
    return lambda *_: [(each.name, each.description) for kind in kinds for each in known.KINDS[kind]()]


def _parts(of: Callable[[], dict[str, tuple[str, ...]]]) -> Find:
    """The parts of running networks, or of the one that is named before."""

    def found(current: str, before: Sequence[str], given: Sequence[str]) -> Words:
        after = [before[at + 1] for at, word in enumerate(before[:-1]) if word in ("-n", "--name")]
        running = of()
        return [
            (part, f"network {name}") for name, parts in running.items() for part in parts if name in (after or running)
        ]

    return found


def _changes(current: str, before: Sequence[str], given: Sequence[str]) -> Words:
    """Of a link: its keys, or that it goes down or up, which stands alone."""
    from ...spec.topology.change import KEYS

    alone = [("down", "pull out the cable"), ("up", "put it in again")] if len(given) < 2 else []
    return [*alone, *((f"{key}=", "") for key in KEYS)]


def _settings(current: str, before: Sequence[str], given: Sequence[str]) -> Words:
    """KEY= of a scenario; after `kernel=` the kernels, and after `congestion=` the congestion controls they have."""
    key, is_set, _ = current.partition("=")
    if is_set and key.rpartition(".")[2] == "congestion":
        return [(f"{key}={name}", "") for name in known.congestion_controls()]
    if current.startswith("kernel="):
        named = [f"{{lab: {each.name}}}" for each in known.kernels() if each.description.startswith("lab")]
        return [(f"kernel={value}", "") for value in ("lab", "lab-realtime", "host", *named)]
    axes = known.axes(Path(given[0])) if given else ()
    return [(f"{key}=", "") for key in dict.fromkeys((*axes, "kernel", "repetitions", "seed"))]


def _metrics(*_: object) -> Words:
    from ...analysis.metric import METRICS  # takes a second to import, which other words need not wait for

    return [(name, metric.what) for name, metric in METRICS.items()]


KINDS_OF_FIGURE = ("profile", "windows", "cuc", "cdf", "fct", "tradeoff", "timeseries", "heatmap", "topology")

VALUES: dict[str, tuple[str, Find | None]] = {
    "SCENARIO": ("files", _named("scenarios")),
    "TOPOLOGY": ("files", _named("topologies")),
    "FILE|NAME": ("files", _named("scenarios", "topologies")),
    "RUN|PROFILE": ("dirs", lambda *_: [(each.name, each.description) for each in known.compared_profiles()]),
    "KERNEL": ("none", _named("kernels")),
    "SOURCE": ("files", None),
    **dict.fromkeys(("NODE", "FROM", "TO"), ("none", _parts(lambda: known.networks()))),
    "LINK": ("none", _parts(lambda: known.links())),
    "KEY=VALUE|down|up": ("none", _changes),
    "NETWORK": ("none", lambda *_: [(name, ", ".join(nodes)) for name, nodes in known.networks().items()]),
    "KIND": ("none", lambda *_: [(kind, "") for kind in KINDS_OF_FIGURE]),
    "METRIC": ("none", _metrics),
    "KEY=VALUE": ("none", _settings),
    "DIR": ("dirs", None),
    "TRIAL_DIR": ("dirs", None),
    "FILE": ("files", None),
    "-- COMMAND...": ("files", None),
}
"""What a metavar of the help stands for: files that can follow, and how to find the words."""


EXAMPLES = (
    ("Complete in this shell, if it is bash", 'eval "$(testbed completion bash)"'),
    ("Complete in every bash", "echo 'eval \"$(testbed completion bash)\"' >> ~/.bashrc"),
    ("Complete in every zsh (compinit must run before)",
     "echo 'eval \"$(testbed completion zsh)\"' >> ~/.zshrc"),
    ("Complete in every fish", "testbed completion fish > ~/.config/fish/completions/testbed.fish"),
)  # fmt: skip

BASH = r"""
_testbed() {
    local replies current=${COMP_WORDS[COMP_CWORD]} action=
    mapfile -t replies < <(testbed completion words bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    COMPREPLY=("${replies[@]:1}")
    case ${replies[0]-} in
        files) action=-f ;;
        dirs) action=-d ;;
    esac
    if [[ $action ]]; then
        compopt -o filenames
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen $action -- "$current")
    elif [[ ${COMPREPLY[0]-} == *= ]]; then
        compopt -o nospace
    fi
}
complete -F _testbed testbed
"""

ZSH = r"""
#compdef testbed
_testbed() {
    local -a replies names
    local line
    replies=("${(@f)$(testbed completion words zsh "${(j: :)words[1,CURRENT-1]} $PREFIX" 2>/dev/null)}")
    for line in "${replies[@]:1}"; do
        names+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#names )); then
        if [[ ${names[1]} == *=:* ]]; then _describe -V testbed names -S ''; else _describe -V testbed names; fi
    fi
    case ${replies[1]} in
        files) _files ;;
        dirs) _files -/ ;;
    esac
}
if [[ $funcstack[1] == _testbed ]]; then _testbed "$@"; else compdef _testbed testbed; fi
"""

FISH = r"""
function __testbed_words
    set -l replies (testbed completion words fish (commandline -cp | string collect) 2>/dev/null)
    switch "$replies[1]"
        case files
            __fish_complete_path (commandline -ct)
        case dirs
            __fish_complete_directories (commandline -ct)
    end
    set -q replies[2]; and printf '%s\n' $replies[2..]
end
complete -c testbed -f -k -a '(__testbed_words)'
"""

SAID_MAX = 60
"""Letters of what is said of a word, which shells show beside it."""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def completion(
    ctx: typer.Context,
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell.")],
    line: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
) -> None:
    """It completes commands, options, and the names of scenarios, topologies, profiles, kernels, and of running
    networks and their nodes. Completion asks `testbed` each time, so the script need not be printed again after an
    update.
    """
    if shell == "words" and line is not None and len(line) == 2:
        _answer(ctx, *line)
    elif shell not in SCRIPTS or line:
        raise UserError(f"there is no completion for {shell!r}; allowed: {one_of(tuple(SCRIPTS), shell)}")
    else:
        print(SCRIPTS[shell].strip())


def _answer(ctx: typer.Context, shell: str, line: str) -> None:
    """For the script: the kind of files that fit as well, and a line for each word. Says nothing of errors: people are
    in the middle of a line.
    """
    try:
        root = ctx.find_root()
        files, words = candidates(cast("Root", root.command), root, line)
    except Exception:  # whatever it is, it will be said when the command runs
        return
    print(files)
    for word, said in words:
        print(_for_bash(word) if shell == "bash" else f"{word}\t{shortened(said, SAID_MAX)}")


def _for_bash(word: str) -> str:
    """Bash takes what is behind a `=` for a word of its own, and quotes nothing."""
    key, is_set, value = word.rpartition("=")
    return shlex.quote(value) if is_set and value else word if not is_set else f"{key.rpartition('=')[2]}="
