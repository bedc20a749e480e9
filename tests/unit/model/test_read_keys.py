"""Every configuration key is read by some code, or carries a note that says why it has no effect.

A key is read where its name is a literal outside of the tables. A literal that only fills a field
of a settings class (`send_buffer_bytes=values["send.buffer.bytes"]`) counts if some code reads
that field.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import barnabas
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.client import ADMIN_KEYS, SIMPLE_KEYS
from barnabas.model.config_keys.connector import CONNECTOR_KEYS
from barnabas.model.config_keys.consumer import CONSUMER_KEYS
from barnabas.model.config_keys.producer import PRODUCER_KEYS
from barnabas.model.config_keys.topic import BROKER_SYNONYMS, TOPIC_KEYS

SOURCE = Path(barnabas.__file__).parent
SERVER = (
    "broker",
    "controller",
    "groups",
    "replication",
    "storage",
    "transactions",
    "zk",
    "net",
    "records",
    "security",
    "runtime",
)
CLIENT = ("clients", "admin", "net", "runtime")
WITHOUT_EFFECT = ("Accepted for compatibility", "PEM is the only supported format.")
TABLES = {
    "producer": (PRODUCER_KEYS, CLIENT),
    "consumer": (CONSUMER_KEYS, CLIENT),
    "simple consumer": (SIMPLE_KEYS, CLIENT),
    "connector": (CONNECTOR_KEYS, (*CLIENT, "zk")),
    "admin": (ADMIN_KEYS, CLIENT),
    "topic": (TOPIC_KEYS, SERVER),
    "broker": (BROKER_KEYS, SERVER),
}


@cache
def trees(package):
    return [ast.parse(path.read_text()) for path in sorted((SOURCE / package).rglob("*.py"))]


@cache
def names_read(packages):
    """Patterns of the literals that code reads, fields that no code reads left out."""
    return patterns_read([tree for package in packages for tree in trees(package)])


def patterns_read(parsed):
    nodes = [node for tree in parsed for node in ast.walk(tree)]
    loaded = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    by_hand = {node.name for node in nodes if isinstance(node, ast.ClassDef) and _has_init(node)}
    stored = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.Call) and _fills_fields(node.func, by_hand)
        for keyword in node.keywords
        if keyword.arg is not None and keyword.arg not in loaded
        for inner in ast.walk(keyword.value)
    }
    patterns = {_pattern(node) for node in nodes if id(node) not in stored} - {None}
    return re.compile("|".join(sorted(patterns)))


def _fills_fields(called, by_hand):
    """Whether a call makes a dataclass: `Settings(…)`, `cls(…)`."""
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == "cls" or (name[:1].isupper() and name not in by_hand)


def _has_init(node):
    return any(isinstance(item, ast.FunctionDef) and item.name == "__init__" for item in node.body)


def _pattern(node):
    """The keys that a literal can name: `f"compression.{codec}.level"` names several."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value) if "." in node.value or node.value.isidentifier() else None
    if isinstance(node, ast.JoinedStr):
        parts = [getattr(part, "value", None) for part in node.values]
        texts = [re.escape(part) if isinstance(part, str) else "[a-z0-9]+" for part in parts]
        return "".join(texts) if any("." in text for text in texts) else None
    return None


@pytest.mark.parametrize("kind", TABLES)
def test_every_key_is_read_or_explained(kind):
    table, packages = TABLES[kind]
    read = names_read(packages)
    topic_keys = {own: topic for topic, owns in BROKER_SYNONYMS.items() for own in owns}
    unread = [
        key.name
        for key in table
        if not (key.note or "").startswith(WITHOUT_EFFECT)
        and not read.fullmatch(key.name)
        and not read.fullmatch(topic_keys.get(key.name, ""))
    ]
    assert unread == []


def test_a_field_that_no_code_reads_does_not_count():
    source = 'Settings(size=values["size.bytes"], kept=values["kept.bytes"]).kept'
    found = patterns_read([ast.parse(source)])
    assert found.fullmatch("kept.bytes")
    assert not found.fullmatch("size.bytes")
