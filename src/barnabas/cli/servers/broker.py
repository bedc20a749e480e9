"""Run a broker from a server.properties file.

The keys are Kafka's. Prints one line "listening on HOST:PORT" when clients can connect.
"""

import argparse
from pathlib import Path

from barnabas.cli.framework.loading import load
from barnabas.cli.framework.settings import key_values, read_properties

EXAMPLE = "barnabas broker --config server.properties -X broker.id=1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "-X",
        "--override",
        dest="settings",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting that overrides the file",
    )
    parser.add_argument("--log-level", default="WARNING", choices=["DEBUG", "INFO", "WARNING"])


def run(arguments: argparse.Namespace) -> int:
    settings: dict[str, object] = {
        **read_properties(arguments.config),
        **key_values(arguments.settings, "-X"),
    }
    serving = load("barnabas.cli.servers.serving")
    return int(serving.run_broker(settings, arguments.log_level))
