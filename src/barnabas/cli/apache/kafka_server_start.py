"""kafka-server-start: run a broker from server.properties."""

import argparse
from pathlib import Path

from barnabas.cli.apache.daemon import add_daemon_options, start_in_background
from barnabas.cli.framework.loading import load
from barnabas.cli.framework.settings import key_values, read_properties

EXAMPLE = "barnabas kafka-server-start -daemon server.properties --override broker.id=1"


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
        **key_values(arguments.overrides, "--override"),
    }
    serving = load("barnabas.cli.servers.serving")
    if arguments.daemon:
        serving.check_settings(settings)
        overrides = [word for item in arguments.overrides for word in ("--override", item)]
        command = ["kafka-server-start", str(arguments.config), *overrides]
        return start_in_background(arguments.name, command)
    return int(serving.run_broker(settings, "INFO"))
