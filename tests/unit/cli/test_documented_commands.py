"""Every `barnabas` command line in the documents is accepted by the parser of its command."""

import re
import shlex
from pathlib import Path

import pytest

from barnabas.cli.commands import find
from barnabas.cli.framework.verbs import load
from barnabas.cli.main import long_flags, make_parser

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|\| *)(barnabas|kafka-[a-z-]+|zookeeper-[a-z-]+) (?!pipeline: )(.*)")


def documented_commands():
    for page in PAGES:
        for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            lines = block.replace("\\\n", " ").splitlines() if language in ("", "sh") else []
            for line in lines:
                if found := COMMAND.search(line.strip()):
                    yield pytest.param(*found.groups(), id=f"{page.name}: {found[0].strip()}")


@pytest.mark.parametrize(("program", "arguments"), list(documented_commands()))
def test_the_command_line_is_valid(program, arguments):
    assert program == "barnabas", "only `barnabas kafka-…` is installed on the path"
    name, *rest = shlex.split(arguments.partition("|")[0], comments=True)
    command = find(name)
    assert command is not None
    parser = make_parser(load(command.module), f"barnabas {name}")
    parser.parse_args(long_flags(parser, rest) if command.apache else rest)
