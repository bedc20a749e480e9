"""Configurations of topics, brokers, groups and client metrics: describe and alter.

Requests about one broker's configuration go to that broker. Other describe requests go to any
broker, other changes to the controller.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Protocol, TypeVar

from barnabas.admin.config_types import (
    AlterOperation,
    Changes,
    ConfigChange,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
    ConfigValue,
    config_text,
)
from barnabas.admin.fan_out import Outcome, per_item, results_or_errors
from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls, Deadline
from barnabas.model.config import ConfigType
from barnabas.model.errors import BarnabasError
from barnabas.wire.message import Request, ResponseT
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

V = TypeVar("V")


class ConfigCalls(AdminCalls):
    """Calls on configurations."""

    async def describe_configs(
        self,
        resources: Iterable[ConfigResource],
        *,
        names: Iterable[str] | None = None,
        synonyms: bool = False,
        documentation: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, dict[str, ConfigEntry]]:
        """Describes the configuration of resources.

        Args:
            resources: topics, brokers, groups, broker loggers or client metrics.
            names: return only these keys (default: all).
            synonyms: include the chain of values that a key falls back to.
            documentation: include the description of each key.

        >>> admin.describe_configs([ConfigResource.topic("orders")])     # doctest: +SKIP
        """
        deadline = self._deadline("describe configs", timeout)
        keys = None if names is None else list(names)

        async def send(
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

        return await self._by_config_owner(resources, send, deadline)

    async def alter_configs(
        self,
        changes: Mapping[ConfigResource, Changes],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Changes the named keys and keeps the others (IncrementalAlterConfigs).

        Args:
            changes: for each resource, values by key (None restores the default) or
                `ConfigChange` objects.
            validate_only: check the changes without applying them.

        >>> admin.alter_configs(
        ...     {ConfigResource.topic("orders"): {"retention.ms": 60_000}}
        ... )                                                            # doctest: +SKIP
        """
        deadline = self._deadline("alter configs", timeout)

        async def send(
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

        return await self._by_config_owner(changes, send, deadline)

    async def replace_configs(
        self,
        values: Mapping[ConfigResource, Mapping[str, ConfigValue]],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[ConfigResource, None]:
        """Replaces the whole configuration; keys that are not named return to their default.

        This sends AlterConfigs, for brokers older than Kafka 2.3. Prefer `alter_configs`.
        """
        deadline = self._deadline("replace configs", timeout)

        async def send(
            node: int | None, pending: list[ConfigResource]
        ) -> Outcome[ConfigResource, None]:
            request = replacing.AlterConfigsRequest(
                resources=[_replacement(item, values[item]) for item in pending],
                validate_only=validate_only,
            )
            response = await self._send_config(node, request)
            return {_resource(item): error_of(item) for item in response.responses}

        return await self._by_config_owner(values, send, deadline)

    async def list_config_resources(
        self, types: Iterable[ConfigResourceType] = (), *, timeout: float | None = None
    ) -> list[ConfigResource]:
        """Returns the resources that have a configuration, of the given types (default: all)."""
        deadline = self._deadline("list config resources", timeout)
        request = ListConfigResourcesRequest(resource_types=[int(kind) for kind in types])
        response = await self._session.to_any(request, deadline)
        raise_error(response)
        return [
            ConfigResource(ConfigResourceType(item.resource_type), item.resource_name)
            for item in response.config_resources
        ]

    # -- private ------------------------------------------------------------------------------

    async def _send_config(self, node: int | None, request: Request[ResponseT]) -> ResponseT:
        client = self._session.client
        if node is not None:
            return await self._session.send_to_broker(node, request)
        is_change = not isinstance(request, DescribeConfigsRequest)
        return await (client.send_to_controller if is_change else client.send_to_any)(request)

    async def _by_config_owner(
        self,
        resources: Iterable[ConfigResource],
        send: Callable[[int | None, list[ConfigResource]], Awaitable[Outcome[ConfigResource, V]]],
        deadline: Deadline,
    ) -> Results[ConfigResource, V]:
        async def attempt(pending: list[ConfigResource]) -> Outcome[ConfigResource, V]:
            owners: dict[int | None, list[ConfigResource]] = {}
            for item in pending:
                owners.setdefault(item.broker_id, []).append(item)
            found: dict[ConfigResource, V | BarnabasError] = {}
            for node, group in owners.items():
                found.update(await results_or_errors(send, node, group))
            return found

        return await per_item(self._session, resources, attempt, deadline)


class _ConfigItem(Protocol):
    """One element of a response about configurations."""

    resource_type: int
    resource_name: str


def _resource(item: _ConfigItem) -> ConfigResource:
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
        name=change.name,
        config_operation=int(change.operation),
        value=config_text(change.value),
    )


def _replacement(
    resource: ConfigResource, values: Mapping[str, ConfigValue]
) -> replacing.AlterConfigsResource:
    return replacing.AlterConfigsResource(
        resource_type=resource.type,
        resource_name=resource.name,
        configs=[
            replacing.AlterableConfig(name=name, value=config_text(value))
            for name, value in values.items()
        ],
    )
