"""From settings to clients: made when a command needs them, with a dead cluster told at once.

Keys that one client does not know but another does (`linger.ms` for the admin client) are left
out for it; a key that none knows is an error with a suggestion.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from barnabas.cli.framework.settings import BOOTSTRAP, client_settings
from barnabas.model.errors import BarnabasError, ConfigError, UnavailableError

if TYPE_CHECKING:
    from barnabas.admin import Admin
    from barnabas.clients.group import Consumer
    from barnabas.clients.producer import Producer
    from barnabas.model.config import ConfigTable

API_TIMEOUT_MS = 30_000
"""A person waits: the libraries' 60 s is too long for a tool."""


def add_connection_options(parser: argparse.ArgumentParser) -> None:
    """-b, -X, --command-config and --profile."""
    group = parser.add_argument_group("connection")
    group.add_argument(
        "-b",
        "--bootstrap-server",
        "--bootstrap-servers",
        "--brokers",
        metavar="HOST:PORT",
        help="brokers to start from, comma-separated (else environment, profile, localhost)",
    )
    group.add_argument(
        "-X",
        "--command-property",
        dest="properties",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a client setting by Kafka's name, repeatable",
    )
    group.add_argument("--command-config", metavar="FILE", help="a properties file of settings")
    group.add_argument("--profile", metavar="NAME", help="a profile of the configuration file")


@dataclass(frozen=True, slots=True)
class Connection:
    """A cluster to talk to. Clients are made on demand; each is the caller's to close."""

    settings: Mapping[str, str]

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "Connection":
        return cls(client_settings(arguments))

    @property
    def bootstrap(self) -> str:
        return self.settings[BOOTSTRAP]

    def admin(self) -> "Admin":
        """An admin client; UnavailableError at once when nobody answers."""
        from barnabas.admin import Admin
        from barnabas.model.config_keys.admin import ADMIN_KEYS

        return Admin(self.checked(ADMIN_KEYS, {"default.api.timeout.ms": str(API_TIMEOUT_MS)}))

    def consumer(self, **defaults: object) -> "Consumer":
        """A consumer; `defaults` (snake_case) give way to what the user has set."""
        from barnabas.clients.group import Consumer
        from barnabas.model.config_keys.consumer import CONSUMER_KEYS

        return Consumer(self.checked(CONSUMER_KEYS, _dotted(defaults)))

    def producer(self, **defaults: object) -> "Producer":
        from barnabas.clients.producer import Producer
        from barnabas.model.config_keys.producer import PRODUCER_KEYS

        return Producer(self.checked(PRODUCER_KEYS, _dotted(defaults)))

    def checked(self, table: "ConfigTable", defaults: Mapping[str, object]) -> dict[str, Any]:
        """The settings of one kind of client, after some broker has answered."""
        settings = {**defaults, **self.fitting(table)}
        check_reachable(table.parse(settings))
        return settings

    def fitting(self, table: "ConfigTable") -> dict[str, Any]:
        """The settings that this kind of client knows; ConfigError for what none knows."""
        found: dict[str, Any] = {}
        for name, value in self.settings.items():
            try:
                own_name, own_value = table.translate(name, value)
            except ConfigError:
                if not known_to_any_client(name):
                    raise
            else:
                found[own_name] = own_value
        return found


def known_to_any_client(name: str) -> bool:
    """Whether some client has such a key."""
    from barnabas.model.config_keys.admin import ADMIN_KEYS
    from barnabas.model.config_keys.connector import CONNECTOR_KEYS
    from barnabas.model.config_keys.consumer import CONSUMER_KEYS
    from barnabas.model.config_keys.producer import PRODUCER_KEYS
    from barnabas.model.config_keys.simple import SIMPLE_KEYS

    tables = (ADMIN_KEYS, CONSUMER_KEYS, PRODUCER_KEYS, SIMPLE_KEYS, CONNECTOR_KEYS)
    return any(table.knows(name) for table in tables)


def check_reachable(values: Mapping[str, Any]) -> None:
    """Raise UnavailableError unless a bootstrap server answers as a broker.

    The clients keep trying for as long as they are allowed to, which is right for a service and
    wrong for a person at a prompt.
    """
    from barnabas.clients.core.options import ClientOptions
    from barnabas.net.blocking_client import BlockingConnection

    options = ClientOptions.from_values(values)
    causes = []
    for address in options.bootstrap:
        try:
            BlockingConnection.open(address, options.connection).close()
        except BarnabasError as error:
            causes.append(str(error))
        else:
            return
    reasons = "; ".join(causes)
    where = ",".join(str(address) for address in options.bootstrap)
    raise UnavailableError(f"{reasons} (to find out more: barnabas doctor -b {where})")


def _dotted(options: Mapping[str, object]) -> dict[str, object]:
    return {name.replace("_", "."): value for name, value in options.items()}
