"""Keys for one listener alone: `listener.name.<name>.<key>`, and `<mechanism>.sasl.jaas.config`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from barnabas.model.config import ConfigKey, ConfigTable, ConfigType
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.security import LISTENER_KEYS, SASL_KEYS
from barnabas.model.errors import ConfigError

_PREFIX = "listener.name."
_JAAS = "sasl.jaas.config"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
_BY_MECHANISM = frozenset(f"{name.lower()}.{_JAAS}" for name in MECHANISMS)
_JAAS_KEY = ConfigTable(SASL_KEYS)[_JAAS]
_LIMITS = (BROKER_KEYS["max.connections"], BROKER_KEYS["max.connection.creation.rate"])
_OWN_KEYS = ConfigTable([*LISTENER_KEYS, *_LIMITS])


def split_listener_keys(given: Mapping[str, object]) -> tuple[dict[str, object], dict[str, Any]]:
    """The keys for all listeners, and those for single listeners, which are parsed.

    >>> split_listener_keys({"port": 1, "listener.name.X.ssl.client.auth": "required"})
    ({'port': 1}, {'listener.name.x.ssl.client.auth': 'required'})
    """
    common: dict[str, object] = {}
    own: dict[str, Any] = {}
    for name, value in given.items():
        if name.startswith(_PREFIX):
            key = broker_key(name)
            own[key.name] = key.parse(value)
        else:
            common[name] = value
    return common, own


def broker_key(name: str) -> ConfigKey:
    """A key of the broker, or of one of its listeners under its whole name; ConfigError if none.

    >>> broker_key("listener.name.X.max.connections").name
    'listener.name.x.max.connections'
    """
    if not name.startswith(_PREFIX):
        return BROKER_KEYS.key(name)
    listener, _, key = name.removeprefix(_PREFIX).partition(".")
    try:
        found = replace(_JAAS_KEY, name=key) if key in _BY_MECHANISM else _OWN_KEYS.key(key)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None
    # No default: without a value of its own a listener has the broker's.
    return replace(found, name=listener_key_name(listener, found.name), default=None)


def any_broker_key(name: str) -> ConfigKey:
    """A key of the broker, or one that is not ours: what a plugin reads, or a slip of somebody.

    Nothing is known of those, so that their values are kept as they are and shown to nobody.
    """
    try:
        return broker_key(name)
    except ConfigError:
        return ConfigKey(name, ConfigType.UNKNOWN, None, "")


def is_listener_key(name: str) -> bool:
    """Whether this is a key for one listener alone."""
    try:
        return name.startswith(_PREFIX) and broker_key(name).name == name
    except ConfigError:
        return False


def listener_key_name(listener: str, key: str) -> str:
    """The name of a key for one listener alone."""
    return f"{_PREFIX}{listener.lower()}.{key}"
