"""Settings of topics, brokers, groups and client metrics: describe and alter.

A broker's own settings are asked of and changed on that broker; everything else goes to any
broker, or to the controller when it changes something.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.admin.calls import AdminCalls
from barnabas.admin.errors import error_of, raise_error
from barnabas.admin.fan_out import Outcome, kept, per_item
from barnabas.admin.results import Results
from barnabas.admin.session import Deadline
from barnabas.model.config import ConfigType
from barnabas.wire.messages import alter_configs as replacing
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.wire.messages.list_config_resources import ListConfigResourcesRequest


class ConfigResourceType(enum.IntEnum):
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


@dataclass(frozen=True, slots=True)
class ConfigResource:
    """What has settings; a BROKER with an empty name stands for the whole cluster's defaults."""

    type: ConfigResourceType
    name: str = ""

    @classmethod
    def topic(cls, name: str) -> "ConfigResource":
        return cls(ConfigResourceType.TOPIC, name)

    @classmethod
    def broker(cls, broker_id: int | None = None) -> "ConfigResource":
        """One broker, or the default of all of them."""
        return cls(ConfigResourceType.BROKER, "" if broker_id is None else str(broker_id))

    @classmethod
    def group(cls, name: str) -> "ConfigResource":
        return cls(ConfigResourceType.GROUP, name)

    @property
    def broker_id(self) -> int | None:
        """The broker that alone knows these settings."""
        owned = self.type in (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)
        return int(self.name) if owned and self.name else None

    def __str__(self) -> str:
        return f"{self.type.name.lower()} {self.name!r}"


class ConfigSource(enum.IntEnum):
    """Where a value comes from, the strongest first as far as topics and brokers go."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One setting; a sensitive one has no value."""

    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    sensitive: bool
    synonyms: tuple[ConfigSynonym, ...] = ()
    type: ConfigType | None = None
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        return self.source is ConfigSource.DEFAULT_CONFIG


class AlterOperation(enum.IntEnum):
    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """One change; APPEND and SUBTRACT are for settings that are lists."""

    name: str
    value: str | None = None
    operation: AlterOperation = AlterOperation.SET


Changes = Mapping[str, str | None] | Iterable[ConfigChange]
"""Values by name, None to go back to the default; or changes in full."""


class ConfigCalls(AdminCalls):
    """Calls on settings."""

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        names: Iterable[str] | None = None,
        synonyms: bool = False,
        documentation: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, dict[str, ConfigEntry]]:
        """All settings of resources, or those named."""
        deadline = self._deadline("describe configs", timeout)
        keys = None if names is None else list(names)

        async def ask(
            node: int | None, pending: list[ConfigResource]
        ) -> Outcome[ConfigResource, dict[str, ConfigEntry]]:
            request = DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=item.type, resource_name=item.name, configuration_keys=keys
                    )
                    for item in pending
                ],
                include_synonyms=synonyms,
                include_documentation=documentation,
            )
            response = await self._send_config(node, request)
            return {_resource(item): error_of(item) or _entries(item) for item in response.results}

        return await self._by_config_owner(resources, ask, deadline)

    async def alter_configs(
        self,
        changes: Mapping[ConfigResource, Changes],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Change the named settings and leave the others (IncrementalAlterConfigs)."""
        deadline = self._deadline("alter configs", timeout)

        async def ask(
            node: int | None, pending: list[ConfigResource]
        ) -> Outcome[ConfigResource, None]:
            request = IncrementalAlterConfigsRequest(
                resources=[
                    AlterConfigsResource(
                        resource_type=item.type,
                        resource_name=item.name,
                        configs=[_alterable(change) for change in _changes(changes[item])],
                    )
                    for item in pending
                ],
                validate_only=validate_only,
            )
            response = await self._send_config(node, request)
            return {_resource(item): error_of(item) for item in response.responses}

        return await self._by_config_owner(changes, ask, deadline)

    async def replace_configs(
        self,
        values: Mapping[ConfigResource, Mapping[str, str]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Make these all the settings; what is not named goes back to its default (AlterConfigs).

        For brokers older than Kafka 2.3; `alter_configs` is the safe way.
        """
        deadline = self._deadline("replace configs", timeout)

        async def ask(
            node: int | None, pending: list[ConfigResource]
        ) -> Outcome[ConfigResource, None]:
            request = replacing.AlterConfigsRequest(
                resources=[_replacement(item, values[item]) for item in pending],
                validate_only=validate_only,
            )
            response = await self._send_config(node, request)
            return {_resource(item): error_of(item) for item in response.responses}

        return await self._by_config_owner(values, ask, deadline)

    async def list_config_resources(
        self, types: Iterable[ConfigResourceType] = (), *, timeout: float | None = None
    ) -> list[ConfigResource]:
        """The resources that have settings of their own; of all types unless told."""
        deadline = self._deadline("list config resources", timeout)
        request = ListConfigResourcesRequest(resource_types=[int(kind) for kind in types])
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return [
            ConfigResource(ConfigResourceType(item.resource_type), item.resource_name)
            for item in response.config_resources
        ]

    # -- inside --------------------------------------------------------------------------------

    async def _send_config(self, node: int | None, request: Any) -> Any:
        client = self._session.client
        if node is not None:
            return await self._session.ask_broker(node, request)
        if isinstance(request, DescribeConfigsRequest):
            return await client.send_to_any(request)
        return await client.send_to_controller(request)

    async def _by_config_owner(
        self, resources: Iterable[ConfigResource], ask: Any, deadline: Deadline
    ) -> Results[ConfigResource, Any]:
        async def attempt(pending: list[ConfigResource]) -> Outcome[ConfigResource, Any]:
            owners: dict[int | None, list[ConfigResource]] = {}
            for item in pending:
                owners.setdefault(item.broker_id, []).append(item)
            found: dict[ConfigResource, Any] = {}
            for node, group in owners.items():
                found.update(await kept(ask(node, group), group))
            return found

        return await per_item(self._session, resources, attempt, deadline)


def _resource(item: Any) -> ConfigResource:
    return ConfigResource(ConfigResourceType(item.resource_type), item.resource_name)


def _entries(result: DescribeConfigsResult) -> dict[str, ConfigEntry]:
    return {item.name: _entry(item) for item in result.configs}


def _entry(item: DescribeConfigsResourceResult) -> ConfigEntry:
    return ConfigEntry(
        item.name,
        None if item.is_sensitive else item.value,
        _source(item.config_source),
        item.read_only,
        item.is_sensitive,
        tuple(ConfigSynonym(each.name, each.value, _source(each.source)) for each in item.synonyms),
        ConfigType(item.config_type) if item.config_type in _TYPES else None,
        item.documentation or None,
    )


_TYPES = frozenset(kind.value for kind in ConfigType)
_SOURCES = frozenset(int(source) for source in ConfigSource)


def _source(number: int) -> ConfigSource:
    return ConfigSource(number) if number in _SOURCES else ConfigSource.UNKNOWN


def _changes(changes: Changes) -> list[ConfigChange]:
    if not isinstance(changes, Mapping):
        return list(changes)
    return [
        ConfigChange(name, value, AlterOperation.DELETE if value is None else AlterOperation.SET)
        for name, value in changes.items()
    ]


def _alterable(change: ConfigChange) -> AlterableConfig:
    return AlterableConfig(
        name=change.name, config_operation=int(change.operation), value=change.value
    )


def _replacement(
    resource: ConfigResource, values: Mapping[str, str]
) -> replacing.AlterConfigsResource:
    return replacing.AlterConfigsResource(
        resource_type=resource.type,
        resource_name=resource.name,
        configs=[
            replacing.AlterableConfig(name=name, value=value) for name, value in values.items()
        ],
    )
