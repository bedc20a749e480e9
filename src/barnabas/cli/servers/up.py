"""Run an embedded broker in the foreground: one process, no ZooKeeper, no JVM.

Prints one line "listening on HOST:PORT" when clients can connect. Ctrl-C, SIGTERM and SIGHUP stop
the broker cleanly; the data stays in its directory.
"""

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.framework.connection import key_values, own_settings
from barnabas.cli.framework.options import (
    DEFAULT_LEVEL,
    add_log_options,
    data_home,
    log_levels,
    port_number,
)
from barnabas.cli.framework.verbs import load
from barnabas.model.errors import ConfigError
from barnabas.model.lazy_exports import missing_package
from barnabas.runtime.child_process import spawn

EXAMPLE = "barnabas up --port 9092 --data-dir ./data -X num.partitions=3"
_DEFAULT_HOST = "localhost"
_DEFAULT_PORT = 9092
_SERVING = "barnabas.cli.servers.serving"
_QUICK_START: dict[str, object] = {"group.initial.rebalance.delay.ms": 0}
"""Settings of Kafka's quick-start configuration that differ from Kafka's defaults."""
_STOP_SECONDS = 5.0


class ConsoleProcess:
    """Starts `barnabas console` for an address and stops it."""

    def __init__(self, port: int, metrics_urls: Sequence[str] = ()) -> None:
        self._port = port
        self._metrics_urls = metrics_urls
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, bootstrap: str, zookeeper: str | None = None) -> None:
        command = [sys.executable, "-m", "barnabas.cli.main", "console", "-b", bootstrap]
        command += ["--port", str(self._port)]
        command += ["--zookeeper", zookeeper] if zookeeper else []
        for url in self._metrics_urls:
            command += ["--metrics-url", url]
        self._process = spawn(command)

    def stop(self) -> None:
        """Ends the process; further calls have no effect."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port",
        type=port_number,
        default=_DEFAULT_PORT,
        help="0 selects a free port (default: %(default)s)",
    )
    parser.add_argument(
        "--host",
        default=_DEFAULT_HOST,
        help="address to listen on; 0.0.0.0 for all (default: %(default)s)",
    )
    parser.add_argument("--data-dir", type=Path, default=None, help=f"default: {data_home()}")
    parser.add_argument(
        "--brokers",
        type=int,
        default=1,
        metavar="N",
        help="more than one: a cluster with its own ZooKeeper (needs Java)",
    )
    parser.add_argument(
        "-X",
        dest="settings",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a broker setting by Kafka's name, such as -X num.partitions=3",
    )
    parser.add_argument(
        "--http-port",
        type=port_number,
        metavar="N",
        help="serve /metrics, /healthz, /readyz and /status on this port of 127.0.0.1; "
        "0 selects a free port (default: off); broker I of a cluster uses N + I - 1",
    )
    parser.add_argument(
        "--console",
        action="store_true",
        help="serve the web console in a process of its own (extra: console)",
    )
    parser.add_argument(
        "--console-port",
        type=port_number,
        default=8080,
        metavar="N",
        help="port of the console (default: %(default)s)",
    )
    add_log_options(parser)


def run(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    if arguments.console:
        _check_console()
    console = ConsoleProcess(arguments.console_port, _metrics_urls(arguments))
    try:
        if arguments.brokers > 1:
            return _run_cluster(arguments, settings, console)
        started = console.start if arguments.console else None
        run_broker = load(_SERVING).run_broker
        return int(run_broker(settings, arguments.log_level, arguments.log_format, started))
    finally:
        console.stop()


def _check_console() -> None:
    """Raises ConfigError if the console is not installed: the broker would start without it."""
    if importlib.util.find_spec("nicegui") is None:
        missing = missing_package(ModuleNotFoundError(name="nicegui"))
        raise ConfigError(f"--console: {missing}")


def _metrics_urls(arguments: argparse.Namespace) -> list[str]:
    """Returns the HTTP endpoints of the brokers; none if free ports are selected."""
    first = arguments.http_port or 0
    return [f"http://127.0.0.1:{first + n}" for n in range(arguments.brokers)] if first else []


def _run_cluster(
    arguments: argparse.Namespace, settings: dict[str, object], console: ConsoleProcess
) -> int:
    local_cluster = load("barnabas.cli.servers.local_cluster")
    serving = load(_SERVING)
    serving.set_up_logging(arguments.log_level, arguments.log_format)
    serving.check_settings({**settings, **own_settings(arguments.settings, "-X")})
    data_dir = Path(str(settings.pop("log.dirs"))) / "cluster"
    del settings["listeners"]
    config = local_cluster.LocalClusterConfig(
        arguments.brokers,
        arguments.host,
        arguments.port,
        data_dir,
        settings,
        _log_options(arguments),
    )
    started = console.start if arguments.console else None
    return int(local_cluster.run_cluster(config, started))


def _log_options(arguments: argparse.Namespace) -> list[str]:
    """Returns the options for the brokers' log files: text at INFO unless others are given."""
    levels: dict[str, str] = arguments.log_level
    is_default = levels == log_levels(DEFAULT_LEVEL)
    shown = {"": "INFO"} if is_default else levels
    text = ",".join(f"{area}={level}" if area else level for area, level in shown.items())
    return ["--log-level", text, "--log-format", arguments.log_format]


def _settings(arguments: argparse.Namespace) -> dict[str, object]:
    if arguments.brokers < 1:
        raise ConfigError(f"--brokers {arguments.brokers}: must be at least 1")
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    settings: dict[str, object] = {
        **_QUICK_START,
        "listeners": f"PLAINTEXT://{host}:{arguments.port}",
        "log.dirs": str(arguments.data_dir or data_home()),
    }
    if arguments.http_port is not None:
        settings["http.listener"] = f"127.0.0.1:{arguments.http_port}"
    # The brokers of a cluster resolve references to secrets themselves, so that their
    # configuration files have none.
    read = own_settings if arguments.brokers == 1 else key_values
    return {**settings, **read(arguments.settings, "-X")}
