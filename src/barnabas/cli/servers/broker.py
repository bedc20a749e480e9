"""Run a broker from Kafka's own kind of configuration file, server.properties.

Keys are Kafka's. Prints one line "listening on HOST:PORT" when clients may connect.
"""

import argparse
import asyncio
from pathlib import Path

from barnabas.broker.config import BrokerConfig
from barnabas.cli.framework.settings import key_values, read_properties
from barnabas.cli.servers.up import serve, set_up_logging

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
        help="a setting that wins over the file's",
    )
    parser.add_argument("--log-level", default="WARNING", choices=["DEBUG", "INFO", "WARNING"])


def run(arguments: argparse.Namespace) -> int:
    set_up_logging(arguments.log_level)
    settings: dict[str, object] = {
        **read_properties(arguments.config),
        **key_values(arguments.settings, "-X"),
    }
    return asyncio.run(serve(BrokerConfig.parse(settings)))
