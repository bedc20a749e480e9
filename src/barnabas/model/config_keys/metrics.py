"""Configuration keys of metrics: of a broker, of reporters, and of `client-metrics` resources.

A `client-metrics` resource (KIP-714) says which clients push which metrics, and how often. Such a
subscription applies to a client if each of its patterns matches; without patterns it applies to
every client. A client that several subscriptions apply to pushes the metrics of all of them, in the
shortest of their intervals.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType, at_least, between, one_of
from barnabas.model.errors import ConfigError

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST

REPORTER_KEYS = [
    ConfigKey(
        "metrics.report.interval.ms",
        LONG,
        30_000,
        "Time between two reports of metric.reporters; the last report is made "
        "when the client is closed or the broker stops.",
        at_least(1),
    ),
    ConfigKey(
        "metrics.json.file",
        STRING,
        None,
        "File to which the reporter json appends; without it, lines are written to stderr.",
    ),
    ConfigKey(
        "metrics.otlp.endpoint",
        STRING,
        None,
        "URL to which the reporter otlp posts, such as http://localhost:4318/v1/metrics; without "
        "it, OpenTelemetry's environment variables apply.",
    ),
]
"""Settings of the reporters, of clients and of brokers."""

BROKER_METRICS_KEYS = [
    ConfigKey(
        "metric.reporters",
        LIST,
        [],
        "Reporters that get the broker's metrics periodically: json, otlp (needs the extra "
        "'otel'), or the import path of a Python class with the method report(metrics, now_ms). "
        "Keys that begin with metric.reporters. are settings of such classes. Kafka's JmxReporter "
        "is accepted without effect.",
        dynamic=True,
    ),
    *REPORTER_KEYS,
    ConfigKey(
        "metrics.num.samples",
        INT,
        2,
        "Number of sample windows that the quantiles of the broker's histograms cover. Its "
        "counters only grow: rates are computed by the reader.",
        at_least(1),
    ),
    ConfigKey(
        "metrics.sample.window.ms",
        LONG,
        30_000,
        "Length of a sample window.",
        at_least(1),
    ),
    ConfigKey(
        "metrics.recording.level",
        STRING,
        "INFO",
        "Level of the recorded metrics.",
        one_of("INFO", "DEBUG", "TRACE"),
        note="Accepted for compatibility, no effect: all metrics of the broker have the level "
        "INFO. The broker logs another level at its start.",
    ),
]


# --- Client metrics -------------------------------------------------------------------------------


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
