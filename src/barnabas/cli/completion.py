"""Shell completion, with the names of topics and groups.

    eval "$(barnabas completion bash)"          # in ~/.bashrc
    barnabas completion zsh > ~/.zfunc/_barnabas
    barnabas completion fish > ~/.config/fish/completions/barnabas.fish

The scripts call `barnabas completion words …` for each completion. Topic and group names are read
from the cluster of the environment or profile; after two seconds without a response none are shown.
"""

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from barnabas.cli.commands import ALIASES, COMMANDS, find
from barnabas.cli.framework.output import DONE
from barnabas.cli.framework.verbs import VerbParser
from barnabas.model.errors import BarnabasError

EXAMPLE = 'eval "$(barnabas completion bash)"'
API_TIMEOUT_MS = 2_000
_TOPIC_ARGUMENTS = frozenset({"topic", "topics", "names", "source"})
_GROUP_ARGUMENTS = frozenset({"group", "groups", "target"})

BASH = """\
_barnabas() {
  local IFS=$'\\n'
  COMPREPLY=($(barnabas completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _barnabas barnabas
"""
ZSH = """\
#compdef barnabas
_barnabas() {
  local -a found
  found=("${(@f)$(barnabas completion words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _barnabas barnabas
"""
FISH = """\
function __barnabas_words
  set -l tokens (commandline -opc) (commandline -ct)
  barnabas completion words $tokens[2..-1] 2>/dev/null
end
complete -c barnabas -f -a '(__barnabas_words)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=[*SCRIPTS, "words"])
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    if arguments.shell != "words":
        sys.stdout.write(SCRIPTS[arguments.shell])
        return DONE
    for word in complete(arguments.words):
        sys.stdout.write(f"{word}\n")
    return DONE


def complete(words: Sequence[str]) -> list[str]:
    """Returns the words that complete the last word of a command line."""
    *before, last = words or [""]
    if not before:
        return _starting(last, [*COMMANDS, *ALIASES])
    command = find(before[0])
    if command is None:
        return []
    parser = _parser(command.module)
    verbs = _verbs(parser)
    rest = before[1:]
    if verbs:
        if not rest:
            return _starting(last, verbs)
        parser = verbs.get(rest[0], parser)
        if isinstance(parser, VerbParser):
            parser.fill()
        rest = rest[1:]
    return _starting(last, _candidates(parser, rest, last))


def _candidates(parser: argparse.ArgumentParser, rest: Sequence[str], last: str) -> Iterable[str]:
    options = {name: action for action in parser._actions for name in action.option_strings}  # noqa: SLF001
    if last.startswith("-"):
        return options
    previous = options.get(rest[-1]) if rest else None
    if previous is not None and previous.nargs != 0:
        return _values(previous)
    positional = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    given = sum(1 for word in rest if not word.startswith("-"))
    if not positional:
        return options
    return _values(positional[min(given, len(positional) - 1)])


def _values(action: argparse.Action) -> Iterable[str]:
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    if action.dest in _GROUP_ARGUMENTS:
        return _names("groups")
    return _names("topics") if action.dest in _TOPIC_ARGUMENTS else []


def _names(kind: str) -> list[str]:
    # Start-up time: most completions need no cluster.
    from barnabas.cli.framework.connection import Connection, client_settings

    try:
        settings = client_settings(argparse.Namespace(), os.environ)
        limited = {**settings, "default.api.timeout.ms": str(API_TIMEOUT_MS)}
        with Connection(limited).admin() as admin:
            if kind == "groups":
                return [group.group_id for group in admin.list_groups()]
            return [topic.name for topic in admin.list_topics()]
    except BarnabasError:
        return []


def _parser(module_name: str) -> argparse.ArgumentParser:
    module: Any = importlib.import_module(module_name)
    parser = argparse.ArgumentParser(add_help=True)
    module.add_arguments(parser)
    return parser


def _verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    with contextlib.suppress(StopIteration):
        chosen = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))  # noqa: SLF001
        return dict(chosen.choices)
    return {}


def _starting(prefix: str, words: Iterable[str]) -> list[str]:
    return sorted({word for word in words if word.startswith(prefix)})
