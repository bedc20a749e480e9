"""Creates clients from settings and reports an unreachable cluster immediately.

A key that only another kind of client has (`linger.ms` for the admin client) is left out; a key
that no client has is an error with a suggestion.
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
"""The clients' default of 60 s is too long for a command that a person waits for."""


def add_connection_options(parser: argparse.ArgumentParser) -> None:
    """Adds -b, -X, --command-config and --profile."""
    group = parser.add_argument_group("connection")
    group.add_argument(
        "-b",
        "--bootstrap-server",
        "--bootstrap-servers",
        "--brokers",
        metavar="HOST:PORT",
        help="bootstrap brokers, comma-separated (default: environment, profile, localhost:9092)",
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
    """The settings of a cluster. Creates clients on demand; the caller closes them.

    The client modules are imported inside the methods: help texts must not wait for them.
    """

    settings: Mapping[str, str]

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "Connection":
        return cls(client_settings(arguments))

    @property
    def bootstrap(self) -> str:
        return self.settings[BOOTSTRAP]

    def admin(self) -> "Admin":
        """Returns an admin client.

        Raises:
            UnavailableError: No bootstrap server responds.
        """
        from barnabas.admin import Admin
        from barnabas.model.config_keys.admin import ADMIN_KEYS

        return Admin(self.checked(ADMIN_KEYS, {"default.api.timeout.ms": str(API_TIMEOUT_MS)}))

    def consumer(self, **defaults: object) -> "Consumer":
        """Returns a consumer; settings of the user override `defaults` (names in snake_case)."""
        from barnabas.clients.group import Consumer
        from barnabas.model.config_keys.consumer import CONSUMER_KEYS

        return Consumer(self.checked(CONSUMER_KEYS, _dotted(defaults)))

    def producer(self, **defaults: object) -> "Producer":
        from barnabas.clients.producer import Producer
        from barnabas.model.config_keys.producer import PRODUCER_KEYS

        return Producer(self.checked(PRODUCER_KEYS, _dotted(defaults)))

    def checked(self, table: "ConfigTable", defaults: Mapping[str, object]) -> dict[str, Any]:
        """Returns the settings for one kind of client after checking that a broker responds."""
        settings = {**defaults, **self.supported_settings(table)}
        check_reachable(table.parse(settings))
        return settings

    def supported_settings(self, table: "ConfigTable") -> dict[str, Any]:
        """Returns the settings that this kind of client has.

        Raises:
            ConfigError: No kind of client has a key of this name.
        """
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
    """Returns whether any kind of client has a key of this name."""
    from barnabas.model.config_keys.admin import ADMIN_KEYS
    from barnabas.model.config_keys.connector import CONNECTOR_KEYS
    from barnabas.model.config_keys.consumer import CONSUMER_KEYS
    from barnabas.model.config_keys.producer import PRODUCER_KEYS
    from barnabas.model.config_keys.simple import SIMPLE_KEYS

    tables = (ADMIN_KEYS, CONSUMER_KEYS, PRODUCER_KEYS, SIMPLE_KEYS, CONNECTOR_KEYS)
    return any(table.knows(name) for table in tables)


def check_reachable(values: Mapping[str, Any]) -> None:
    """Raises UnavailableError unless a bootstrap server responds as a broker.

    The clients retry until their timeout. That is right for a service, but a person at a prompt
    should see the cause immediately.
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
    raise UnavailableError(f"{reasons} (for a diagnosis run: barnabas doctor -b {where})")


def _dotted(options: Mapping[str, object]) -> dict[str, object]:
    return {name.replace("_", "."): value for name, value in options.items()}
