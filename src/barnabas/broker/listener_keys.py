"""Keys for one listener alone: `listener.name.<name>.<key>`, and `<mechanism>.sasl.jaas.config`."""

from collections.abc import Mapping
from typing import Any

from barnabas.model.config import ConfigTable
from barnabas.model.config_keys.security import LISTENER_KEYS, SASL_KEYS
from barnabas.model.errors import ConfigError

_PREFIX = "listener.name."
_JAAS = "sasl.jaas.config"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_BY_MECHANISM = frozenset(f"{name.lower()}.{_JAAS}" for name in MECHANISMS)
_JAAS_KEY = ConfigTable(SASL_KEYS)[_JAAS]


def split_listener_keys(
    given: Mapping[str, object],
) -> tuple[dict[str, object], dict[str, dict[str, Any]]]:
    """The keys for all listeners, and the parsed ones for single listeners by upper-case name.

    >>> split_listener_keys({"port": 1, "listener.name.x.ssl.client.auth": "required"})
    ({'port': 1}, {'X': {'ssl.client.auth': 'required'}})
    """
    common: dict[str, object] = {}
    single: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        if not name.startswith(_PREFIX):
            common[name] = value
            continue
        listener, _, key = name.removeprefix(_PREFIX).partition(".")
        single.setdefault(listener.upper(), {})[key] = _parse(name, key, value)
    return common, single


def _parse(name: str, key: str, value: object) -> Any:
    if key in _BY_MECHANISM:
        return _JAAS_KEY.parse(value)
    try:
        return LISTENER_KEYS.key(key).parse(value)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None
