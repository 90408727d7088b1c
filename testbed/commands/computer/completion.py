"""`testbed completion`: prints the script that completes commands, options and names in a shell, and answers it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ...error import UserError, one_of
from ..completion_words import candidates
from ..known import shortened

if TYPE_CHECKING:
    from ..completion_words import Root

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
