"""The cluster: brokers, controller, features, and the API versions of each broker."""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls, operations_of
from barnabas.clients.core.cluster_metadata import Node
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.net.client_protocol import versions_request
from barnabas.security.acl import Operation
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.api_versions import ApiVersionsResponse
from barnabas.wire.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from barnabas.wire.messages.metadata import MetadataResponse
from barnabas.wire.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest


@dataclass(frozen=True, slots=True)
class ClusterDescription:
    """Brokers and controller; `controller` is None if the response names no controller."""

    cluster_id: str | None
    controller: int | None
    brokers: tuple[Node, ...]
    authorized_operations: frozenset[Operation] | None = None


@dataclass(frozen=True, slots=True)
class ApiVersionRange:
    """An API that a broker serves; `name` is the number of an API unknown to this client."""

    key: int
    name: str
    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True)
class FeatureRange:
    """The lowest and the highest level of a feature."""

    min_version: int
    max_version: int


@dataclass(frozen=True, slots=True)
class FeatureDescription:
    """Feature levels that brokers support and levels that the cluster has finalized."""

    supported: dict[str, FeatureRange]
    finalized: dict[str, FeatureRange]
    finalized_epoch: int | None


class UpgradeType(enum.IntEnum):
    """Direction of a change of a feature level; an unsafe downgrade may lose metadata."""

    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


@dataclass(frozen=True, slots=True)
class FeatureUpdate:
    """The new level of a feature; 0 disables it."""

    max_version_level: int
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


class ClusterCalls(AdminCalls):
    """Calls on the cluster."""

    async def describe_cluster(
        self, *, include_operations: bool = False, timeout: float | None = None
    ) -> ClusterDescription:
        """Describes brokers, controller and cluster id."""
        deadline = self._deadline("describe cluster", timeout)
        request = DescribeClusterRequest(include_cluster_authorized_operations=include_operations)
        try:
            response = await self._session.to_any(request, deadline)
        except BrokerError as error:
            if error.code is not ErrorCode.UNSUPPORTED_VERSION:
                raise
        else:
            raise_error(response)
            found = (Node(one.broker_id, one.host, one.port, one.rack) for one in response.brokers)
            return _described(response, found)
        return await self._session.until(
            lambda: self._cluster_from_metadata(include_operations), deadline
        )

    async def describe_api_versions(
        self, broker: int | None = None, *, timeout: float | None = None
    ) -> tuple[ApiVersionRange, ...]:
        """Returns the APIs and versions that a broker serves (default: any broker)."""
        response = await self._api_versions(broker, timeout)
        return tuple(
            ApiVersionRange(
                item.api_key, _api_name(item.api_key), item.min_version, item.max_version
            )
            for item in sorted(response.api_keys, key=lambda item: item.api_key)
        )

    async def describe_features(
        self, broker: int | None = None, *, timeout: float | None = None
    ) -> FeatureDescription:
        """Describes the feature levels of the cluster (KIP-584)."""
        response = await self._api_versions(broker, timeout)
        epoch = response.finalized_features_epoch
        return FeatureDescription(
            {
                item.name: FeatureRange(item.min_version, item.max_version)
                for item in response.supported_features
            },
            {
                item.name: FeatureRange(item.min_version_level, item.max_version_level)
                for item in response.finalized_features
            },
            epoch if epoch >= 0 else None,
        )

    async def update_features(
        self,
        updates: Mapping[str, FeatureUpdate],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Changes feature levels; `validate_only` checks the request without applying it."""
        deadline = self._deadline("update features", timeout)
        request = UpdateFeaturesRequest(
            timeout_ms=deadline.left_ms,
            feature_updates=[_feature(name, update) for name, update in updates.items()],
            validate_only=validate_only,
        )
        response = await self._session.to_controller(request, deadline)
        # From version 2 on, the response lists no successful features.
        outcomes: dict[str, BarnabasError | None] = dict.fromkeys(updates)
        outcomes.update({item.feature: error_of(item) for item in response.results})
        return Results(outcomes)

    # -- private ------------------------------------------------------------------------------

    async def _api_versions(self, broker: int | None, timeout: float | None) -> ApiVersionsResponse:
        deadline = self._deadline("describe API versions", timeout)
        request = versions_request()
        response: ApiVersionsResponse
        if broker is None:
            response = await self._session.to_any(request, deadline)
        else:
            response = await self._session.to_broker(broker, request, deadline)
        raise_error(response)
        return response

    async def _cluster_from_metadata(self, operations: bool) -> ClusterDescription:
        response = await self._session.metadata((), operations=operations)
        brokers = (Node(item.node_id, item.host, item.port, item.rack) for item in response.brokers)
        return _described(response, brokers)


def _described(
    response: DescribeClusterResponse | MetadataResponse, brokers: Iterable[Node]
) -> ClusterDescription:
    return ClusterDescription(
        response.cluster_id,
        response.controller_id if response.controller_id >= 0 else None,
        tuple(sorted(brokers, key=lambda node: node.id)),
        operations_of(response.cluster_authorized_operations),
    )


def _api_name(key: int) -> str:
    try:
        return ApiKey(key).name
    except ValueError:
        return str(key)


def _feature(name: str, update: FeatureUpdate) -> FeatureUpdateKey:
    return FeatureUpdateKey(
        feature=name,
        max_version_level=update.max_version_level,
        allow_downgrade=update.upgrade_type is not UpgradeType.UPGRADE,
        upgrade_type=int(update.upgrade_type),
    )
