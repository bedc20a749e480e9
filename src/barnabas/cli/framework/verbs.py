"""The shape of a command: a noun with verbs, each with its options and a worked example.

A noun's module declares `VERBS`; `add_verbs` turns them into sub-parsers and `run_verb` calls the
one that was chosen. A command without verbs is a module with `EXAMPLE`, `add_arguments`, `run`.
"""

import argparse
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Run = Callable[[argparse.Namespace], int]
AddArguments = Callable[[argparse.ArgumentParser], None]


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: `example` is a command line that works, shown in its help."""

    name: str
    summary: str
    example: str
    add_arguments: AddArguments
    run: Run
    aliases: tuple[str, ...] = ()


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the lines of descriptions and examples, and uses the width there is."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, max_help_position=30, **options)


def examples(text: str) -> str:
    """The epilog of a help text."""
    return "example:\n" + textwrap.indent(textwrap.dedent(text).strip(), "  ")


def add_verbs(parser: argparse.ArgumentParser, verbs: Sequence[Verb]) -> None:
    """A sub-parser for each verb."""
    chosen = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in verbs:
        sub = chosen.add_parser(
            verb.name,
            aliases=verb.aliases,
            help=verb.summary,
            description=verb.summary,
            epilog=examples(verb.example),
            formatter_class=HelpFormatter,
            allow_abbrev=False,
        )
        verb.add_arguments(sub)
        sub.set_defaults(run_verb=verb.run)


def run_verb(arguments: argparse.Namespace) -> int:
    run: Run = arguments.run_verb
    return run(arguments)
