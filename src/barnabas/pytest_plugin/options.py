"""Command-line options, ini settings and the `kafka` marker.

| option | ini | meaning |
|---|---|---|
| `--kafka-external=host:port` | `kafka_external` | use this cluster instead of a broker |
| `--kafka-scope=session` | `kafka_scope` | fixture scope of the broker: session, module, … |
| | `kafka_config` | lines `key=value`: settings of the in-process broker |

`@pytest.mark.kafka(partitions=3, config={"cleanup.policy": "compact"})` configures the
`kafka_topic` of a test.
"""

import pytest

SCOPES = ("session", "package", "module", "class", "function")
MARKER = "kafka(partitions=1, config={}): partitions and settings of the test's kafka_topic"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kafka", "barnabas: Kafka for tests")
    group.addoption(
        "--kafka-external",
        metavar="HOST:PORT",
        default=None,
        help="run against this cluster instead of an in-process broker",
    )
    group.addoption(
        "--kafka-scope", choices=SCOPES, default=None, help="fixture scope of the in-process broker"
    )
    parser.addini("kafka_external", "host:port of a cluster to run against", default="")
    parser.addini("kafka_scope", "fixture scope of the in-process broker", default="session")
    parser.addini("kafka_config", "settings of the in-process broker", type="linelist", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


def external_servers(config: pytest.Config) -> str | None:
    """Returns the address of the external cluster, or None for an in-process broker."""
    chosen: str = config.getoption("--kafka-external") or config.getini("kafka_external")
    return chosen or None


def broker_scope(fixture_name: str, config: pytest.Config) -> str:
    """Returns the configured scope of the broker fixtures."""
    scope: str = config.getoption("--kafka-scope") or config.getini("kafka_scope")
    if scope not in SCOPES:
        raise pytest.UsageError(f"kafka_scope={scope}: must be one of {', '.join(SCOPES)}")
    return scope


def broker_settings(config: pytest.Config) -> dict[str, object]:
    """Returns the broker settings of the ini file."""
    settings: dict[str, object] = {}
    for line in config.getini("kafka_config"):
        key, separator, value = line.partition("=")
        if not separator:
            raise pytest.UsageError(f"kafka_config: {line!r} is not key=value")
        settings[key.strip()] = value.strip()
    return settings
