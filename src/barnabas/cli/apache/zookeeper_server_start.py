"""zookeeper-server-start: run ZooKeeper from zookeeper.properties. Needs Java."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from barnabas.cli.apache.kafka_server_start import add_daemon_options, start_in_background
from barnabas.cli.framework.connection import read_properties
from barnabas.cli.servers.zookeeper import serve
from barnabas.model.errors import ConfigError
from barnabas.zk.zookeeper_server import ServerConfig

EXAMPLE = "barnabas zookeeper-server-start -daemon zookeeper.properties"
_DEFAULT_PORT = 2181
_DEFAULT_TICK_MS = 3000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_daemon_options(parser, "zookeeper")
    parser.add_argument("config", type=Path, metavar="zookeeper.properties")


def run(arguments: argparse.Namespace) -> int:
    config = server_config(read_properties(arguments.config))
    if arguments.daemon:
        command = ["zookeeper-server-start", str(arguments.config)]
        return start_in_background(arguments.name, command)
    return serve(config)


def server_config(given: Mapping[str, str]) -> ServerConfig:
    """Returns the configuration of a server; other keys are passed to ZooKeeper unchanged.

    Raises:
        ConfigError: A key is missing or has a wrong value.
    """
    values = dict(given)
    if not values.get("dataDir"):
        raise ConfigError("zookeeper.properties: dataDir is missing")
    data_dir = Path(values.pop("dataDir").strip())
    members = {
        _number(key, key.removeprefix("server.")): values.pop(key).strip()
        for key in list(values)
        if key.startswith("server.")
    }
    return ServerConfig(
        data_dir=data_dir,
        port=_number("clientPort", values.pop("clientPort", str(_DEFAULT_PORT))),
        host=values.pop("clientPortAddress", "0.0.0.0").strip(),
        tick_ms=_number("tickTime", values.pop("tickTime", str(_DEFAULT_TICK_MS))),
        server_id=_server_id(data_dir) if members else 1,
        members=members,
        other=values,
    )


def _server_id(data_dir: Path) -> int:
    path = data_dir / "myid"
    if not path.is_file():
        raise ConfigError(f"{path} is missing: it holds the number of this server in the ensemble")
    return _number(str(path), path.read_text(encoding="utf-8"))


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ConfigError(f"{name}={text.strip()!r}: must be a whole number") from None
