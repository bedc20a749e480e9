"""Run a broker from a server.properties file.

The keys are Kafka's. Prints one line "listening on HOST:PORT" when clients can connect.
"""

import argparse
from pathlib import Path

from barnabas.cli.framework.connection import own_settings, read_properties
from barnabas.cli.framework.options import add_log_options, port_number
from barnabas.cli.framework.verbs import load

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
    parser.add_argument(
        "--http-port",
        type=port_number,
        metavar="N",
        help="serve /metrics, /healthz, /readyz and /status on this port of 127.0.0.1; "
        "0 selects a free port; the setting http.listener allows other addresses",
    )
    add_log_options(parser)


def run(arguments: argparse.Namespace) -> int:
    settings: dict[str, object] = {
        **read_properties(arguments.config),
        **own_settings(arguments.settings, "-X"),
    }
    if arguments.http_port is not None:
        settings["http.listener"] = f"127.0.0.1:{arguments.http_port}"
    serving = load("barnabas.cli.servers.serving")
    return int(serving.run_broker(settings, arguments.log_level, arguments.log_format))
