"""Keys of a `client-metrics` resource (KIP-714): which clients push which metrics, and how often.

A subscription applies to a client if each of its patterns matches; without patterns it applies to
every client. A client that several subscriptions apply to pushes the metrics of all of them, in the
shortest of their intervals.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, between
from barnabas.model.errors import ConfigError

ALL_METRICS = "*"
MATCH_NAMES = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)

CLIENT_METRICS_KEYS = ConfigTable(
    (
        ConfigKey(
            "metrics",
            ConfigType.LIST,
            [],
            "Prefixes of the metrics that clients push, or * for all metrics.",
            dynamic=True,
        ),
        ConfigKey(
            "interval.ms",
            ConfigType.INT,
            300_000,
            "Time between two pushes.",
            between(100, 3_600_000),
            dynamic=True,
        ),
        ConfigKey(
            "match",
            ConfigType.LIST,
            [],
            "Clients to which this applies, as NAME=REGEX; NAME is client_id, client_instance_id, "
            "client_software_name, client_software_version, client_source_address or "
            "client_source_port.",
            dynamic=True,
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class ClientMetricsSubscription:
    """The parsed values of one resource."""

    metrics: tuple[str, ...]
    interval_ms: int
    patterns: tuple[tuple[str, "re.Pattern[str]"], ...]

    @classmethod
    def parse(cls, values: Mapping[str, str]) -> "ClientMetricsSubscription":
        """Returns the subscription; raises ConfigError for an unknown key or an invalid value.

        >>> made = ClientMetricsSubscription.parse({"metrics": "*", "match": "client_id=orders-.*"})
        >>> made.applies_to({"client_id": "orders-7"}), made.applies_to({"client_id": "x"})
        (True, False)
        """
        unknown = next((name for name in values if name not in CLIENT_METRICS_KEYS), None)
        if unknown is not None:
            raise ConfigError(f"Unknown client metrics configuration: {unknown}")
        parsed = {key.name: key.default for key in CLIENT_METRICS_KEYS}
        parsed |= {name: CLIENT_METRICS_KEYS[name].parse(text) for name, text in values.items()}
        patterns = tuple(_pattern(text) for text in parsed["match"])
        return cls(tuple(parsed["metrics"]), parsed["interval.ms"], patterns)

    def applies_to(self, client: Mapping[str, str]) -> bool:
        """Whether every pattern matches the whole value of its name."""
        return all(pattern.fullmatch(client.get(name, "")) for name, pattern in self.patterns)


def _pattern(text: str) -> tuple[str, "re.Pattern[str]"]:
    name, separator, expression = text.partition("=")
    name = name.strip()
    if not separator or name not in MATCH_NAMES:
        known = ", ".join(MATCH_NAMES)
        raise ConfigError(f"match={text!r}: must be NAME=REGEX, NAME is one of {known}")
    try:
        return name, re.compile(expression.strip())
    except re.error as error:
        raise ConfigError(f"match={text!r}: invalid regular expression: {error}") from None
