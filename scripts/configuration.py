"""Writes docs/configuration.md and the types of keywords from the tables of configuration keys.

--check compares only.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.client import ADMIN_KEYS, SIMPLE_KEYS
from barnabas.model.config_keys.connector import CONNECTOR_KEYS
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS
from barnabas.model.config_keys.topic import TOPIC_KEYS
from scripts.configuration_keywords import MODULE, keywords_module
from scripts.generated_page import table, write_or_check

PAGE = Path("docs/configuration.md")
COMMAND = "python -m scripts.configuration"

TABLES: list[tuple[str, str, ConfigTable]] = [
    ("Producer", "`barnabas.Producer(config)`, `barnabas.aio.Producer(config)`.", PRODUCER_KEYS),
    ("Consumer", "`barnabas.Consumer(config)`, `barnabas.aio.Consumer(config)`.", CONSUMER_KEYS),
    ("Simple consumer", "`barnabas.SimpleConsumer(config)`.", SIMPLE_KEYS),
    ("ZooKeeper high-level consumer", "`barnabas.ConsumerConnector(config)`.", CONNECTOR_KEYS),
    ("Admin", "`barnabas.Admin(config)`, `barnabas.aio.Admin(config)`.", ADMIN_KEYS),
    (
        "Topic",
        "Set when a topic is created, or later by `barnabas configs alter`; the broker's setting"
        " of the same meaning is the default.",
        TOPIC_KEYS,
    ),
    (
        "Broker",
        "The property file of `barnabas broker`, or `barnabas.testing.Broker(config)`. A dynamic"
        " key can be changed while the broker runs.",
        BROKER_KEYS,
    ),
]

INTRODUCTION = """\
# Configuration

This page has every key of the clients, of topics and of the broker. It is generated from the code.

Keys have Kafka's names. In Python, keywords with underscores work as well (`linger_ms=5`), and type
checkers verify their names and types. An unknown key is an error that names the nearest known one;
settings that contradict each other are rejected when a client is created. Spaces around a value are
ignored. Many key names of librdkafka, and the class names of Java's serializers, partitioners and
assignors, are accepted for their equivalents. Only the dynamic settings of a broker may contain
unknown keys, as in Kafka, where plugins read them: the broker stores them and does not show their
values.
"""

_PROBES: dict[ConfigType, list[object]] = {
    ConfigType.INT: [-(10**12), 10**30],
    ConfigType.SHORT: [-(10**12), 10**30],
    ConfigType.LONG: [-(10**30), 10**30],
    ConfigType.DOUBLE: [-1e300, 1e300],
    ConfigType.STRING: ["\0"],
    ConfigType.LIST: [["\0"], []],
}


def main() -> int:
    parts = [INTRODUCTION]
    for title, text, keys in TABLES:
        parts.append(f"## {title}\n\n{text}\n\n{_page_table(keys)}\n")
    page = write_or_check(PAGE, "\n".join(parts), COMMAND)
    return page or write_or_check(MODULE, keywords_module(), COMMAND)


def _page_table(keys: ConfigTable) -> str:
    dynamic = any(key.dynamic for key in keys)
    header = ["key", "type", "default", "allowed", *(["dynamic"] if dynamic else []), "meaning"]
    rows = [
        [
            f"`{key.name}`",
            key.type.name.lower(),
            _default(key),
            constraint(key),
            *(["yes" if key.dynamic else ""] if dynamic else []),
            _meaning(key),
        ]
        for key in keys
    ]
    return table(header, rows)


def _default(key: ConfigKey) -> str:
    if key.required:
        return "required"
    if key.default is None:
        return "none"
    text = key.render(key.default)
    return f"`{text}`" if text else "empty"


def _meaning(key: ConfigKey) -> str:
    text = key.doc
    if key.aliases:
        text += f" Other name: {', '.join(f'`{alias.name}`' for alias in key.aliases)}."
    if not key.note:
        return text
    note = key.note[0].upper() + key.note[1:].rstrip(".")
    return f"{text} *{note}.*"


def constraint(key: ConfigKey) -> str:
    """Error texts of the validator for invalid values."""
    return "; ".join(dict.fromkeys(_complaints(key)))


def _complaints(key: ConfigKey) -> Iterator[str]:
    if key.validator is None:
        return
    for probe in _PROBES.get(key.type, []):
        try:
            problem = key.validator(probe)
        except (TypeError, ValueError):
            continue
        if problem is not None and "\0" not in problem:
            yield re.sub(r"(: |, )(?=,|$)", r"\1empty", problem.removeprefix("must be "))


if __name__ == "__main__":
    sys.exit(main())
