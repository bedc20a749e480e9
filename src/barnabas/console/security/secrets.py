"""Finds secrets in configurations and in the ZooKeeper tree, and removes them from output.

A configuration key is secret if the broker says so, if the tables of this project say so, or if its
name has a word of secrets. In the ZooKeeper tree, nodes with credentials of users and with
delegation tokens are hidden as a whole. In configuration nodes only the values of known keys are
shown: a key of a plug-in may have a secret under any name. The tree may be below a chroot, so the
parts of a path are compared, not its start.
"""

import json
from itertools import pairwise

from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.topic import TOPIC_KEYS

HIDDEN = "(hidden)"
_WORDS = ("password", "secret", "jaas", "private", "credential")
_ENDINGS = ("keystore.key", "master.key")
_IN_TEXT = (*_WORDS, *_ENDINGS, "stored_key", "server_key", "salt=")
_TOKEN_NODES = frozenset({"delegation_token", "delegation_tokens", "delegation_token_auth"})
_PLAIN_FIELDS = frozenset({"version", "config"})
_QUOTA_WORDS = ("byte_rate", "request_percentage", "mutation_rate", "connection_creation_rate")
_KNOWN = frozenset(key.name for table in (BROKER_KEYS, TOPIC_KEYS) for key in table)
_SENSITIVE = frozenset(key.name for key in BROKER_KEYS if key.sensitive)


def is_secret_key(name: str) -> bool:
    """Returns whether the value of a configuration key must not be shown.

    >>> is_secret_key("ssl.keystore.password"), is_secret_key("ssl.keystore.location")
    (True, False)
    """
    lower = name.lower()
    if any(word in lower for word in _WORDS) or lower.endswith(_ENDINGS):
        return True
    return name in _SENSITIVE


def shown_node(path: str, data: bytes) -> str | None:
    """Returns the contents of a ZooKeeper node without its secrets; None hides all of it.

    Args:
        path: The path of the node, with or without a chroot.
    """
    parts = path.split("/")
    if ("config", "users") in pairwise(parts) or not _TOKEN_NODES.isdisjoint(parts):
        return None
    text = data.decode("utf-8", "backslashreplace")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None if _mentions_a_secret(text) else text
    in_config = "config" in parts
    if not in_config and not _mentions_a_secret(text):
        return text
    return json.dumps(_masked(document, known_only=in_config), ensure_ascii=False)


def _mentions_a_secret(text: str) -> bool:
    lower = text.lower()
    return any(word in lower for word in _IN_TEXT)


def _masked(value: object, *, known_only: bool) -> object:
    if isinstance(value, dict):
        return {
            key: _masked(item, known_only=known_only) if _may_show(key, known_only) else HIDDEN
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_masked(item, known_only=known_only) for item in value]
    return HIDDEN if isinstance(value, str) and _mentions_a_secret(value) else value


def _may_show(key: str, known_only: bool) -> bool:
    if is_secret_key(key):
        return False
    if not known_only or key in _PLAIN_FIELDS or key.endswith(_QUOTA_WORDS):
        return True
    return key in _KNOWN
