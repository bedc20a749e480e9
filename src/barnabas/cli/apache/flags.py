"""Flags of Apache Kafka's tools on argparse, and the classes that a user names in them.

The old names of flags and those of KIP-1147 are both accepted. `--zookeeper` finds the brokers in
ZooKeeper, for command lines of Kafka before 3.0.
"""

import argparse
import importlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from barnabas.cli.framework.connection import BOOTSTRAP, Connection, own_settings, read_properties
from barnabas.cli.framework.output import printable
from barnabas.model.errors import ConfigError


def add_bootstrap_options(
    parser: argparse.ArgumentParser, *, zookeeper: bool = False, broker_list: bool = False
) -> None:
    """Adds --bootstrap-server with its older names, and --command-config."""
    names = ["--bootstrap-server", *(["--broker-list"] if broker_list else [])]
    parser.add_argument(
        *names, dest="bootstrap_server", metavar="HOST:PORT", help="brokers to connect to"
    )
    parser.add_argument("--command-config", metavar="FILE", help="properties of the client")
    if zookeeper:
        parser.add_argument(
            "--zookeeper", metavar="HOST:PORT", help="find the brokers in this ZooKeeper"
        )


def add_client_properties(parser: argparse.ArgumentParser, kind: str) -> None:
    """Adds --producer-property or --consumer-property, and the names of KIP-1147."""
    parser.add_argument(
        f"--{kind}-property",
        "--command-property",
        dest="properties",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help=f"a property of the {kind}",
    )
    parser.add_argument(
        f"--{kind}.config",
        f"--{kind}-config",
        dest="old_config",
        metavar="FILE",
        help=f"properties file of the {kind}",
    )


def parse_broker_list(text: str) -> list[int]:
    """Returns the broker ids of --broker-list.

    >>> parse_broker_list("2,1")
    [2, 1]
    """
    try:
        return [int(number) for number in text.split(",") if number.strip()]
    except ValueError:
        raise ConfigError(f"--broker-list {text!r}: must look like 1,2") from None


def parse_topic_pattern(text: str) -> re.Pattern[str]:
    """Compiles a regular expression for topic names."""
    try:
        return re.compile(text)
    except re.error as error:
        raise ConfigError(f"{text!r} is not a regular expression: {error}") from None


def connection_of(arguments: argparse.Namespace) -> Connection:
    """Returns the connection of a command line, which must name the cluster."""
    settings = given_settings(arguments)
    settings.update(_bootstrap_setting(arguments, settings))
    return Connection(settings)


def given_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """Returns the settings of files and properties on the command line."""
    settings: dict[str, str] = {}
    for name in ("old_config", "command_config"):
        path = getattr(arguments, name, None)
        if path is not None:
            settings.update(read_properties(Path(path)))
    settings.update(
        own_settings(getattr(arguments, "properties", None) or (), "--command-property")
    )
    return without_java_classes(settings)


def without_java_classes(settings: dict[str, str]) -> dict[str, str]:
    """Returns the settings without those that name Java classes, such as serializers."""
    java = ("serializer", "deserializer", "assignor", "interceptor.classes")
    return {key: value for key, value in settings.items() if not key.endswith(java)}


def warn_without_effect(arguments: argparse.Namespace, reasons: Mapping[str, str]) -> None:
    """Warns about given flags that are accepted for old scripts and have no effect."""
    for flag, reason in reasons.items():
        if getattr(arguments, flag.lstrip("-").replace("-", "_")) is not None:
            sys.stderr.write(f"WARNING: {flag} has no effect: {reason}\n")


def simple_class_name(name: str) -> str:
    """Returns the last part of the name of a Java class.

    >>> simple_class_name("kafka.tools.ConsoleProducer$LineMessageReader")
    'LineMessageReader'
    """
    return name.replace("$", ".").rpartition(".")[2]


def say(text: str) -> None:
    """Prints a line with control characters escaped."""
    sys.stdout.write(f"{printable(text)}\n")


def _bootstrap_setting(arguments: argparse.Namespace, settings: dict[str, str]) -> dict[str, str]:
    if arguments.bootstrap_server:
        return {BOOTSTRAP: arguments.bootstrap_server}
    zookeeper = getattr(arguments, "zookeeper", None)
    if zookeeper:
        # Start-up time: few command lines use --zookeeper.
        from barnabas.cli.framework.zookeeper_brokers import find_brokers

        return {BOOTSTRAP: find_brokers(zookeeper, settings)}
    if settings.get(BOOTSTRAP):
        return {}
    raise ConfigError("missing required option --bootstrap-server")


def make_plugin(name: str, flag: str) -> Any:
    """Returns an instance of the class, or the function, that a user names.

    Raises:
        ConfigError: The class cannot be found or instantiated.
    """
    found = _load_class(name, flag)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        raise ConfigError(f"{flag} {name}: {type(error).__name__}: {error}") from error


def _load_class(name: str, flag: str) -> Any:
    """Returns the class or function that a user names as `package.module:Class`.

    The current directory is searched first, as `python -m` does.

    Raises:
        ConfigError: The module or class does not exist; the message begins with `flag`.
    """
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        cause = f"{type(error).__name__}: {error}"
        raise ConfigError(f"{flag} {name}: cannot import {module_name}: {cause}") from error
    found: Any = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        raise ConfigError(f"{flag} {name}: {module_name} has no class or function {attribute!r}")
    return found
