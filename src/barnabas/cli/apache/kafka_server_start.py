"""kafka-server-start: run a broker from server.properties.

The option -daemon of Kafka's start scripts runs the command in the background.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.framework.connection import own_settings, read_properties
from barnabas.cli.framework.output import DONE
from barnabas.cli.framework.verbs import load

EXAMPLE = "barnabas kafka-server-start -daemon server.properties --override broker.id=1"


def add_daemon_options(parser: argparse.ArgumentParser, name: str) -> None:
    """Adds -daemon, -name and -loggc."""
    parser.add_argument("--daemon", action="store_true", help="run in the background")
    parser.add_argument("--name", default=name, help="name of the background process's log file")
    parser.add_argument(
        "--loggc", action="store_true", help="no effect; it is an option for the JVM"
    )


def start_in_background(name: str, command: Sequence[str]) -> int:
    """Starts a `barnabas` command in a new session; its output goes to LOG_DIR/NAME.out."""
    directory = Path(os.environ.get("LOG_DIR", "logs"))
    directory.mkdir(parents=True, exist_ok=True)
    output = directory / f"{name}.out"
    with output.open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "barnabas.cli.main", *command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    sys.stderr.write(f"started process {process.pid}; its output is in {output}\n")
    process.returncode = 0  # prevents the warning of Popen: the process continues after this one
    return DONE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_daemon_options(parser, "kafkaServer")
    parser.add_argument("config", type=Path, metavar="server.properties")
    parser.add_argument(
        "--override",
        dest="overrides",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting that overrides the file",
    )


def run(arguments: argparse.Namespace) -> int:
    settings: dict[str, object] = {
        **read_properties(arguments.config),
        **own_settings(arguments.overrides, "--override"),
    }
    serving = load("barnabas.cli.servers.serving")
    if arguments.daemon:
        serving.check_settings(settings)
        overrides = [word for item in arguments.overrides for word in ("--override", item)]
        command = ["kafka-server-start", str(arguments.config), *overrides]
        return start_in_background(arguments.name, command)
    return int(serving.run_broker(settings, {"": "INFO"}))
