"""Encoded ApiVersions responses, derived once from the list of handlers and the features.

Kafka stores feature levels in the cluster metadata; here they result from each broker's settings,
which must be equal on all brokers of a cluster.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from barnabas.broker.handler import Handler
from barnabas.model.config import ConfigValues
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from barnabas.wire.primitives import join_parts

# Clients with version 3 reject a supported range that begins at 0 (KAFKA-17011).
_LEVEL_0_FROM = 4


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature with the highest level served and the level in force."""

    name: str
    max_level: int
    level: int


def features_of(values: ConfigValues) -> tuple[Feature, ...]:
    """Returns the features. `transaction.version` 2: the first write adds a partition to the
    transaction, and each transaction has its own epoch (KIP-890).
    `group.version` 1: the protocol of KIP-848."""
    consumer_groups = "consumer" in values["group.coordinator.rebalance.protocols"]
    return (
        Feature("group.version", 1, int(consumer_groups)),
        Feature("transaction.version", 2, values["transaction.version"]),
    )


class ApiVersionsResponses:
    """Response bodies by version, and those for unsupported versions and malformed requests."""

    def __init__(self, handlers: Iterable[Handler], features: Sequence[Feature] = ()) -> None:
        listed = sorted(handlers, key=lambda handler: handler.api)
        ranges = [ApiVersion(h.api, _advertised_min(h), h.versions[1]) for h in listed]
        own = next(item for item in ranges if item.api_key == ApiKey.API_VERSIONS)
        self._bodies = {
            version: _encode(_with_features(ranges, features, version), version)
            for version in range(own.min_version, own.max_version + 1)
        }
        self._invalid = {
            version: _encode(ApiVersionsResponse(ErrorCode.INVALID_REQUEST), version)
            for version in self._bodies
        }
        # In version 0, with the range of ApiVersions only: every client can decode it.
        self.too_new = _encode(ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, [own]), 0)

    def body(self, version: int) -> bytes:
        return self._bodies[version]

    def invalid(self, version: int) -> bytes:
        return self._invalid[version]


def _with_features(
    ranges: list[ApiVersion], features: Sequence[Feature], version: int
) -> ApiVersionsResponse:
    response = ApiVersionsResponse(0, ranges)
    if version >= _LEVEL_0_FROM:
        response.supported_features = [
            SupportedFeatureKey(feature.name, 0, feature.max_level) for feature in features
        ]
    in_force = [feature for feature in features if feature.level > 0]
    if in_force:
        response.finalized_features_epoch = 0
        response.finalized_features = [
            FinalizedFeatureKey(feature.name, feature.level, feature.level) for feature in in_force
        ]
    return response


def _advertised_min(handler: Handler) -> int:
    return handler.versions[0] if handler.advertised_min is None else handler.advertised_min


def _encode(response: ApiVersionsResponse, version: int) -> bytes:
    return join_parts(response.encode(version))
