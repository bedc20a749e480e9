"""Write Apache's script names into a directory, for automation that calls kafka-topics.sh.

Each script runs the command of its name with the Python that installed it.
"""

import argparse
import shlex
import sys
from pathlib import Path

from barnabas.cli.commands import COMMANDS
from barnabas.cli.framework.output import DONE
from barnabas.model.errors import ConfigError

EXAMPLE = "barnabas install-scripts /opt/kafka/bin"
_MARK = "# Written by barnabas install-scripts."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", type=Path, metavar="DIR", help="created when missing")
    parser.add_argument(
        "--force", action="store_true", help="replace files that this command did not write"
    )


def run(arguments: argparse.Namespace) -> int:
    directory: Path = arguments.directory
    names = [name for name, command in COMMANDS.items() if command.apache]
    directory.mkdir(parents=True, exist_ok=True)
    files = {directory / f"{name}.sh": script(name) for name in names}
    if not arguments.force:
        _check_no_foreign_files(list(files))
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
    sys.stdout.write(f"{len(files)} scripts are in {directory}\n")
    return DONE


def script(name: str) -> str:
    """Returns the text of one script."""
    python = shlex.quote(sys.executable)
    return f'#!/bin/sh\n{_MARK}\nexec {python} -m barnabas.cli.main {name} "$@"\n'


def _check_no_foreign_files(paths: list[Path]) -> None:
    foreign = [
        path.name
        for path in paths
        if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace")
    ]
    if foreign:
        raise ConfigError(
            f"{paths[0].parent} already has files with these names: {', '.join(foreign)};"
            " --force replaces them"
        )
