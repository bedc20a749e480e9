"""Keys of single listeners: `listener.name.<name>.<key>`, and `<mechanism>.sasl.jaas.config`."""

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
    """Returns the keys for all listeners, and the parsed keys for single listeners.

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
    """Returns a broker key, or a listener key with its full name; raises ConfigError if unknown.

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
    # No default: the broker's value applies to a listener without a value.
    return replace(found, name=listener_key_name(listener, found.name), default=None)


def any_broker_key(name: str) -> ConfigKey:
    """Returns a broker key, or a key for an unknown name (of a plugin, or a typo).

    Values of unknown keys are kept unchanged, and are treated as sensitive.
    """
    try:
        return broker_key(name)
    except ConfigError:
        return ConfigKey(name, ConfigType.UNKNOWN, None, "")


def is_listener_key(name: str) -> bool:
    """Whether this is the key of a single listener."""
    try:
        return name.startswith(_PREFIX) and broker_key(name).name == name
    except ConfigError:
        return False


def listener_key_name(listener: str, key: str) -> str:
    """Returns the full name of a listener's key."""
    return f"{_PREFIX}{listener.lower()}.{key}"
