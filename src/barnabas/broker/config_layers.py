"""Effective configuration, in layers: topic, dynamic broker, dynamic default, static, default.

The layers are never merged into copies: a change of a broker-wide default must not change the value
that is set for a topic (KAFKA-9254 lost overrides that way). Values are stored as text and parsed
when read.

No IO: `config_watch` updates it from the metadata tree, `handlers` read it.
"""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from barnabas.broker.config import BrokerConfig, any_broker_key, broker_key, listener_key_name
from barnabas.model.config import ConfigKey, ConfigLookup
from barnabas.model.config_keys.broker import BROKER_KEYS
from barnabas.model.config_keys.coordinators import GROUP_RESOURCE_KEYS
from barnabas.model.config_keys.metrics import (
    CLIENT_METRICS_KEYS,
    ClientMetricsSubscription,
)
from barnabas.model.config_keys.topic import BROKER_SYNONYMS, SYNONYM_FACTORS, TOPIC_KEYS

_RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")


class ConfigOrigin(enum.IntEnum):
    """Source of a value, with the protocol's numbers."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


@dataclass(frozen=True, slots=True)
class Synonym:
    """One of the values of a key, with its source."""

    name: str
    value: str | None
    source: ConfigOrigin


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """Effective value of one key, and its synonyms in order of precedence."""

    key: ConfigKey
    value: str | None
    source: ConfigOrigin
    read_only: bool
    synonyms: tuple[Synonym, ...]


class ConfigLayers:
    """The configuration values of all layers; lookups return the effective value.

    Owned by the broker's loop.
    """

    def __init__(self, static: BrokerConfig) -> None:
        self._static = static
        self._topics: dict[str, dict[str, str]] = {}
        self._groups: dict[str, dict[str, str]] = {}
        self._group_values: dict[str, dict[str, int]] = {}
        self._client_metrics: dict[str, dict[str, str]] = {}
        self.subscriptions: dict[str, ClientMetricsSubscription] = {}
        """Client metrics subscriptions by name; replaced when one changes."""
        self._broker: dict[str, str] = {}
        self._default: dict[str, str] = {}
        self.broker_version = 0
        """Number of changes of the broker's layers; values derived from them are outdated then."""

    @property
    def static(self) -> BrokerConfig:
        """The configuration of the properties file."""
        return self._static

    # --- updates from the metadata tree ----------------------------------------------------

    def set_topic(self, topic: str, values: Mapping[str, str]) -> None:
        self._topics[topic] = dict(values)

    def forget_topic(self, topic: str) -> None:
        self._topics.pop(topic, None)

    def set_group(self, group_id: str, values: Mapping[str, str]) -> None:
        self._groups.pop(group_id, None)
        self._group_values.pop(group_id, None)
        if values:
            self._groups[group_id] = dict(values)
            known = {name: text for name, text in values.items() if name in GROUP_RESOURCE_KEYS}
            self._group_values[group_id] = {
                name: GROUP_RESOURCE_KEYS[name].parse(text) for name, text in known.items()
            }

    def set_client_metrics(self, name: str, values: Mapping[str, str]) -> None:
        """Sets or, without values, removes a subscription; raises ConfigError if it is invalid."""
        others = {n: found for n, found in self.subscriptions.items() if n != name}
        self._client_metrics.pop(name, None)
        self.subscriptions = others
        if values:
            parsed = ClientMetricsSubscription.parse(values)
            self._client_metrics[name] = dict(values)
            self.subscriptions = {**others, name: parsed}

    def groups(self) -> list[str]:
        """Returns the groups that have group settings."""
        return sorted(self._groups)

    def set_broker(self, values: Mapping[str, str]) -> None:
        self._broker = dict(values)
        self.broker_version += 1

    def set_default(self, values: Mapping[str, str]) -> None:
        self._default = dict(values)
        self.broker_version += 1

    def topic_overrides(self, topic: str) -> Mapping[str, str]:
        return self._topics.get(topic, {})

    # --- effective values ------------------------------------------------------------------

    def broker_value(self, name: str) -> Any:
        """Returns the typed value of a broker key, dynamic layers first."""
        for layer in (self._broker, self._default):
            if name in layer:
                return broker_key(name).parse(layer[name])
        return self._static[name]

    def listener_value(self, listener: str, name: str) -> Any:
        """Returns the typed value that is set for this listener, or None."""
        return self._set_broker_value(listener_key_name(listener, name))

    def listener_lookup(
        self, listener: str, changed: Mapping[str, str] | None = None
    ) -> ConfigLookup:
        """Returns a function of a key that gives its typed value for a listener.

        The value set for the listener has precedence over the broker's value. `changed` replaces
        the dynamic values of this broker, to check them before they are stored.
        """
        dynamic = self._broker if changed is None else changed

        def value(key: str) -> Any:
            own = listener_key_name(listener, key)
            for layer in (dynamic, self._default):
                if own in layer:
                    return broker_key(own).parse(layer[own])
            return self._static.listener_value(listener, key)

        return value

    def own_value(self, name: str) -> Any:
        """Returns the typed value of a key if it is set in any layer, otherwise None."""
        return self._set_broker_value(name)

    def topic_value(self, topic: str, name: str) -> Any:
        """Returns the typed value of a topic key."""
        return self.effective(self._topics.get(topic, {}), name)

    def group_values(self, group_id: str) -> Mapping[str, int]:
        """Returns the typed values that are set for this group."""
        return self._group_values.get(group_id, {})

    def topic_values(self, topic: str) -> dict[str, Any]:
        """Returns all topic keys with their typed values."""
        overrides = self._topics.get(topic, {})
        return {key.name: self.effective(overrides, key.name) for key in TOPIC_KEYS}

    def effective(self, overrides: Mapping[str, str], name: str) -> Any:
        """Returns the value of a topic key for a topic with these overrides."""
        key = TOPIC_KEYS[name]
        if name in overrides:
            return key.parse(overrides[name])
        for synonym in BROKER_SYNONYMS.get(name, ()):
            found = self._set_broker_value(synonym)
            if found is not None:
                factor = SYNONYM_FACTORS.get(synonym)
                return found * factor if factor is not None else found
        return key.default

    def _set_broker_value(self, name: str) -> Any:
        """Returns the value of a broker key if it is configured, otherwise None."""
        if name in self._broker or name in self._default or name in self._static.given:
            return self.broker_value(name)
        return None

    # --- descriptions ----------------------------------------------------------------------

    def describe_topic(self, topic: str) -> list[ConfigValue]:
        return self.describe_topic_with(self._topics.get(topic, {}))

    def describe_topic_with(self, overrides: Mapping[str, str]) -> list[ConfigValue]:
        """Describes a topic with these overrides, which need not be stored yet."""
        return [self._topic_entry(key, overrides) for key in TOPIC_KEYS]

    def describe_group(self, group_id: str) -> list[ConfigValue]:
        own = self._groups.get(group_id, {})
        return [self._group_entry(key, own) for key in GROUP_RESOURCE_KEYS]

    def describe_client_metrics(self, name: str) -> list[ConfigValue]:
        own = self._client_metrics.get(name, {})
        return [_client_metrics_entry(key, own) for key in CLIENT_METRICS_KEYS]

    def describe_broker(self) -> list[ConfigValue]:
        layers = (self._static.given, self._default, self._broker)
        others = {name for layer in layers for name in layer if name not in BROKER_KEYS}
        keys = (*BROKER_KEYS, *map(any_broker_key, sorted(others)))
        return [self._broker_entry(key) for key in keys]

    def describe_default(self) -> list[ConfigValue]:
        """Describes the cluster-wide dynamic values, as Kafka does for the empty broker name."""
        source = ConfigOrigin.DYNAMIC_DEFAULT_BROKER
        entries = []
        for name, value in self._default.items():
            key = any_broker_key(name)
            shown = None if key.sensitive else value
            synonyms = (Synonym(name, shown, source),)
            entries.append(ConfigValue(key, shown, source, not key.dynamic, synonyms))
        return entries

    def _topic_entry(self, key: ConfigKey, overrides: Mapping[str, str]) -> ConfigValue:
        synonyms = []
        if key.name in overrides:
            synonyms.append(Synonym(key.name, overrides[key.name], ConfigOrigin.TOPIC))
        synonyms += self._family(BROKER_SYNONYMS.get(key.name, ()))
        value = key.render(self.effective(overrides, key.name))
        source = synonyms[0].source if synonyms else ConfigOrigin.DEFAULT
        return ConfigValue(key, value, source, False, tuple(synonyms))

    def _group_entry(self, key: ConfigKey, overrides: Mapping[str, str]) -> ConfigValue:
        synonyms = self._broker_synonyms(f"group.{key.name}")
        if key.name in overrides:
            synonyms.insert(0, Synonym(key.name, overrides[key.name], ConfigOrigin.GROUP))
        return ConfigValue(key, synonyms[0].value, synonyms[0].source, False, tuple(synonyms))

    def _broker_entry(self, key: ConfigKey) -> ConfigValue:
        names = _RETENTION if key.name == _RETENTION[0] else (key.name,)
        synonyms = self._family(names)
        value = None if key.sensitive else key.render(self.broker_value(key.name))
        source = synonyms[0].source if synonyms else ConfigOrigin.DEFAULT
        if synonyms and synonyms[0].name != key.name:
            source = ConfigOrigin.DEFAULT
        return ConfigValue(key, value, source, not key.dynamic, tuple(synonyms))

    def _family(self, names: Sequence[str]) -> list[Synonym]:
        """Returns the synonyms of a key and of its fallback keys, layer by layer.

        As in Kafka, only the first name has a default, except for the retention keys.
        """
        found = [
            synonym
            for name in names
            for synonym in self._broker_synonyms(name)
            if name == names[0] or names == _RETENTION or synonym.source is not ConfigOrigin.DEFAULT
        ]
        return sorted(found, key=lambda synonym: synonym.source)

    def _broker_synonyms(self, name: str) -> list[Synonym]:
        key = any_broker_key(name)
        found = []
        if name in self._broker:
            found.append(Synonym(name, self._broker[name], ConfigOrigin.DYNAMIC_BROKER))
        if name in self._default:
            found.append(Synonym(name, self._default[name], ConfigOrigin.DYNAMIC_DEFAULT_BROKER))
        if name in self._static.given:
            found.append(Synonym(name, key.render(self._static[name]), ConfigOrigin.STATIC_BROKER))
        if key.default is not None:
            found.append(Synonym(name, key.render(key.default), ConfigOrigin.DEFAULT))
        if key.sensitive:
            found = [Synonym(item.name, None, item.source) for item in found]
        return found


def _client_metrics_entry(key: ConfigKey, own: Mapping[str, str]) -> ConfigValue:
    source = ConfigOrigin.CLIENT_METRICS if key.name in own else ConfigOrigin.DEFAULT
    value = own.get(key.name, key.render(key.default))
    return ConfigValue(key, value, source, False, (Synonym(key.name, value, source),))
