"""Apache's way with flags, on argparse.

Its parser takes `-topic` for `--topic`, and any unambiguous beginning of a flag. Old names and the
ones of KIP-1147 are accepted side by side. `--zookeeper` finds the brokers in ZooKeeper, for the
command lines written before brokers answered such questions themselves.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence

from barnabas.cli.framework.connection import Connection
from barnabas.cli.framework.render import printable
from barnabas.cli.framework.settings import BOOTSTRAP, key_values, read_properties
from barnabas.model.errors import ConfigError


def long_flags(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> list[str]:
    """`-topic` as `--topic`, wherever the parser knows the long name only."""
    known = set(parser._option_string_actions)  # noqa: SLF001 - argparse has no other way to ask
    found = []
    for argument in arguments:
        flag, equals, value = argument.partition("=")
        single = flag.startswith("-") and not flag.startswith("--") and flag not in known
        wanted = single and any(name.startswith(f"-{flag}") for name in known)
        found.append(f"-{flag}{equals}{value}" if wanted and len(flag) > 2 else argument)
    return found


def add_bootstrap_options(
    parser: argparse.ArgumentParser, *, zookeeper: bool = False, broker_list: bool = False
) -> None:
    """--bootstrap-server with its older names, --command-config."""
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
    """--producer-property or --consumer-property, as KIP-1147 names it too."""
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
        f"--{kind}.config", f"--{kind}-config", dest="old_config", metavar="FILE", help="its file"
    )


def connection_of(arguments: argparse.Namespace) -> Connection:
    """The cluster an Apache command line means: it has to say where."""
    settings = given_settings(arguments)
    settings.update(_where(arguments, settings))
    return Connection(settings)


def given_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """The settings of files and properties on the command line."""
    settings: dict[str, str] = {}
    for name in ("old_config", "command_config"):
        path = getattr(arguments, name, None)
        if path is not None:
            from pathlib import Path

            settings.update(read_properties(Path(path)))
    settings.update(key_values(getattr(arguments, "properties", None) or (), "--command-property"))
    return known_settings(settings)


def known_settings(settings: dict[str, str]) -> dict[str, str]:
    """Java's serializer and such classes are not for us; everything else is checked later."""
    java = ("serializer", "deserializer", "assignor", "interceptor.classes")
    return {key: value for key, value in settings.items() if not key.endswith(java)}


def say_without_effect(arguments: argparse.Namespace, reasons: Mapping[str, str]) -> None:
    """Tell of flags that were given, are accepted for old scripts' sake, and do nothing."""
    for flag, reason in reasons.items():
        if getattr(arguments, flag.lstrip("-").replace("-", "_")) is not None:
            sys.stderr.write(f"WARNING: {flag} has no effect: {reason}\n")


def class_word(name: str) -> str:
    """The last part of a Java class's name.

    >>> class_word("kafka.tools.ConsoleProducer$LineMessageReader")
    'LineMessageReader'
    """
    return name.replace("$", ".").rpartition(".")[2]


def say(text: str) -> None:
    """Print a line; control characters of names and records are escaped."""
    sys.stdout.write(f"{printable(text)}\n")


def _where(arguments: argparse.Namespace, settings: dict[str, str]) -> dict[str, str]:
    if arguments.bootstrap_server:
        return {BOOTSTRAP: arguments.bootstrap_server}
    zookeeper = getattr(arguments, "zookeeper", None)
    if zookeeper:
        from barnabas.cli.framework.zookeeper_brokers import brokers_in

        protocol = settings.get("security.protocol", "PLAINTEXT")
        return {BOOTSTRAP: brokers_in(zookeeper, protocol)}
    if settings.get(BOOTSTRAP):
        return {}
    raise ConfigError("missing required option --bootstrap-server")
