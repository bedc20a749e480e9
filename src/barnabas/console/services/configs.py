"""Configurations of topics, brokers and groups: values with their defaults, and changes.

The default of a key is the last value that it falls back to, so it includes the broker's own
settings. Values of sensitive keys are never returned, not even those that a broker would send.
"""

from barnabas.admin import ConfigEntry, ConfigResource, ConfigSource
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.topics import ConfigChanges, ConfigItem

_OWN = frozenset(
    {
        ConfigSource.DYNAMIC_TOPIC_CONFIG,
        ConfigSource.DYNAMIC_BROKER_CONFIG,
        ConfigSource.DYNAMIC_GROUP_CONFIG,
    }
)
_SECRET_WORDS = ("password", "secret", "jaas", "private", "credential")


class ConfigService:
    def __init__(self, link: ClusterLink) -> None:
        self._link = link

    async def describe(self, resource: ConfigResource) -> list[ConfigItem]:
        found = await self._link.admin.describe_configs(
            [resource], synonyms=True, documentation=True
        )
        return [item_of(entry) for _, entry in sorted(found[resource].items())]

    async def alter(self, resource: ConfigResource, changes: ConfigChanges) -> None:
        values: dict[str, str | int | float | None] = {**changes.values}
        values.update(dict.fromkeys(changes.reset))
        if values:
            (await self._link.admin.alter_configs({resource: values})).check()


def default_text(entry: ConfigEntry) -> str | None:
    """Returns the value without a setting of the resource itself.

    A broker's setting may have another unit (`log.retention.hours` for `retention.ms`); its name is
    added then.
    """
    fallback = [item for item in entry.synonyms if item.source not in _OWN]
    if not fallback:
        return entry.value if entry.source not in _OWN else None
    found = fallback[0]
    if found.value is None or found.name in (entry.name, f"log.{entry.name}"):
        return found.value
    return f"{found.value} ({found.name})"


def item_of(entry: ConfigEntry) -> ConfigItem:
    secret = entry.sensitive or any(word in entry.name for word in _SECRET_WORDS)
    default = default_text(entry)
    return ConfigItem(
        name=entry.name,
        value=None if secret else entry.value,
        default=None if secret else default,
        source=entry.source.name.lower(),
        is_default=entry.source not in _OWN,
        read_only=entry.read_only,
        sensitive=secret,
        documentation=entry.documentation,
    )
