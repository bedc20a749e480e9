"""Writes the typed keywords of the clients from the tables of configuration keys.

A type checker verifies `Consumer(group_id="g", max_poll_records=10)` with them. Run
`python -m scripts.configuration`, which writes them beside the reference page.
"""

from collections.abc import Iterable
from pathlib import Path

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType
from barnabas.model.config_keys.client import ADMIN_KEYS, SIMPLE_KEYS
from barnabas.model.config_keys.connector import CONNECTOR_KEYS
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS

MODULE = Path("src/barnabas/model/config_keys/keywords.py")

TABLES: dict[str, ConfigTable] = {
    "AdminKeywords": ADMIN_KEYS,
    "ConsumerKeywords": CONSUMER_KEYS,
    "ProducerKeywords": PRODUCER_KEYS,
    "SimpleConsumerKeywords": SIMPLE_KEYS,
    "ConnectorKeywords": CONNECTOR_KEYS,
}

TITLES = {"ConnectorKeywords": "ConsumerConnector"}

HEADER = '''\
"""Types of the configuration keywords that the clients accept, for type checkers.

Generated from the tables of configuration keys by `python -m scripts.configuration`.
Each keyword is a key with underscores instead of dots; docs/configuration.md describes them.
"""

from collections.abc import Iterable
from typing import TypedDict
'''

_TYPES = {
    ConfigType.BOOLEAN: "bool",
    ConfigType.STRING: "str",
    ConfigType.PASSWORD: "str",
    ConfigType.INT: "int",
    ConfigType.SHORT: "int",
    ConfigType.LONG: "int",
    ConfigType.DOUBLE: "float",
    ConfigType.LIST: "str | Iterable[object]",
    ConfigType.CLASS: "object",
    ConfigType.UNKNOWN: "object",
}


def keywords_module() -> str:
    """Returns the source text of the module."""
    fields = {name: _fields(table) for name, table in TABLES.items()}
    first, *others = [set(found.items()) for found in fields.values()]
    shared = dict(first.intersection(*others))
    parts = [
        HEADER,
        _class("ClientKeywords", "TypedDict, total=False", "Keywords of every client.", shared),
    ]
    for name, found in fields.items():
        own = {keyword: kind for keyword, kind in found.items() if keyword not in shared}
        title = TITLES.get(name, name.removesuffix("Keywords"))
        parts.append(
            _class(
                name,
                "ClientKeywords, total=False",
                f"Keywords of `{title}`, besides those of every client.",
                own,
            )
        )
    return "\n\n".join(parts)


def _class(name: str, bases: str, title: str, fields: dict[str, str]) -> str:
    lines = [f"    {keyword}: {fields[keyword]}" for keyword in sorted(fields)]
    return f'class {name}({bases}):\n    """{title}"""\n\n' + "\n".join(lines) + "\n"


def _fields(table: ConfigTable) -> dict[str, str]:
    return {name.replace(".", "_"): _type(key) for key in table for name in _names(key)}


def _names(key: ConfigKey) -> Iterable[str]:
    return [key.name, *(alias.name for alias in key.aliases)]


def _type(key: ConfigKey) -> str:
    kind = _TYPES[key.type]
    return (
        f"{kind} | None" if key.default is None and not key.required and kind != "object" else kind
    )
