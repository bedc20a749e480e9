"""Limits of the number of elements that one request may name.

A frame of 1 MB can name more than 100,000 partitions, which take the loop seconds to look up, so
the number of elements is limited: the partitions of the cluster and a number that depends on the
API. APIs that serve a request as a whole have smaller numbers, because they occupy the loop for all
elements at once. Requests that are served in slices (`request_slices`) may name 20,000 more than
there are: a client whose metadata still has a deleted topic gets an error for each partition.

A request above the limit gets an error response. The connection is closed if the request is far
above it, because the error response costs time, too. Small requests, which are decoded on the loop
(`LOOP_BUDGET`), are not checked: they cannot name enough elements.
"""

from typing import Any

from barnabas.broker.request_slices import Path, count_elements
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey

LOOP_BUDGET = 1 << 18
"""Estimated memory of a request that is decoded on the loop: a few milliseconds of work."""
LOOP_BUDGETS: dict[ApiKey, int] = {
    ApiKey.LIST_OFFSETS: 1 << 16,
    ApiKey.OFFSET_FETCH: 1 << 16,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: 1 << 16,
    ApiKey.DELETE_RECORDS: 1 << 16,
    ApiKey.DESCRIBE_PRODUCERS: 1 << 16,
    ApiKey.DESCRIBE_GROUPS: 1 << 16,
    ApiKey.CONSUMER_GROUP_DESCRIBE: 1 << 16,
    ApiKey.DELETE_GROUPS: 1 << 16,
    ApiKey.DESCRIBE_TRANSACTIONS: 1 << 16,
    ApiKey.DELETE_TOPICS: 1 << 16,
    ApiKey.ADD_PARTITIONS_TO_TXN: 1 << 16,
    ApiKey.WRITE_TXN_MARKERS: 1 << 16,
    ApiKey.ALTER_REPLICA_LOG_DIRS: 1 << 15,
}
"""Smaller budgets of APIs with small elements that take long to serve."""
SPARE_ELEMENTS = 10_000
"""Number by which the elements of a request may exceed the partitions of the cluster."""
_SPARE_IN_SLICES = 20_000
SPARE_ELEMENTS_BY_API: dict[ApiKey, int] = {
    ApiKey.PRODUCE: _SPARE_IN_SLICES,
    ApiKey.FETCH: _SPARE_IN_SLICES,
    ApiKey.LIST_OFFSETS: _SPARE_IN_SLICES,
    ApiKey.OFFSET_COMMIT: _SPARE_IN_SLICES,
    ApiKey.OFFSET_FETCH: _SPARE_IN_SLICES,
    ApiKey.TXN_OFFSET_COMMIT: _SPARE_IN_SLICES,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: _SPARE_IN_SLICES,
    ApiKey.DELETE_RECORDS: _SPARE_IN_SLICES,
    ApiKey.DESCRIBE_PRODUCERS: _SPARE_IN_SLICES,
    ApiKey.LEAVE_GROUP: 4_000,
    ApiKey.ADD_PARTITIONS_TO_TXN: 2_500,
    ApiKey.DELETE_TOPICS: 3_000,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: 5_000,
    ApiKey.WRITE_TXN_MARKERS: 5_000,
    ApiKey.ALTER_REPLICA_LOG_DIRS: 1_500,
    ApiKey.CREATE_PARTITIONS: 2_500,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: 3_000,
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: 4_000,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: 4_000,
    ApiKey.ALTER_CLIENT_QUOTAS: 5_000,
}
"""Other numbers, so that one callback of the loop takes less than 20 ms (scripts.request_costs)."""
ELEMENT_BYTES: dict[ApiKey, int] = {
    ApiKey.METADATA: 400,
    ApiKey.FETCH: 700,
    ApiKey.CREATE_TOPICS: 1500,
}
"""Estimated memory of one element (`primitives.over_budget`), with some configs for a new topic.

These requests name partitions or topics. One that names far more than there are is refused before
it is decoded: decoding a million repetitions would compete with the loop for seconds."""
# Arrays at whose ends the elements of a request are counted.
LIMITED_ARRAYS: dict[ApiKey, tuple[tuple[str, ...], ...]] = {
    ApiKey.PRODUCE: (("topic_data", "partition_data"),),
    ApiKey.FETCH: (("topics", "partitions"), ("forgotten_topics_data", "partitions")),
    ApiKey.LIST_OFFSETS: (("topics", "partitions"),),
    ApiKey.OFFSET_COMMIT: (("topics", "partitions"),),
    ApiKey.OFFSET_FETCH: (
        ("topics", "partition_indexes"),
        ("groups", "topics", "partition_indexes"),
    ),
    ApiKey.TXN_OFFSET_COMMIT: (("topics", "partitions"),),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: (("topics", "partitions"),),
    ApiKey.DELETE_RECORDS: (("topics", "partitions"),),
    ApiKey.DESCRIBE_PRODUCERS: (("topics", "partition_indexes"),),
    ApiKey.DELETE_GROUPS: (("groups_names",),),
    ApiKey.DESCRIBE_GROUPS: (("groups",),),
    ApiKey.CONSUMER_GROUP_DESCRIBE: (("group_ids",),),
    ApiKey.FIND_COORDINATOR: (("coordinator_keys",),),
    ApiKey.DESCRIBE_CONFIGS: (("resources", "configuration_keys"),),
    ApiKey.DESCRIBE_TRANSACTIONS: (("transactional_ids",),),
    ApiKey.JOIN_GROUP: (("protocols",),),
    ApiKey.SYNC_GROUP: (("assignments",),),
    ApiKey.LEAVE_GROUP: (("members",),),
    ApiKey.LIST_GROUPS: (("states_filter",), ("types_filter",)),
    ApiKey.LIST_TRANSACTIONS: (("state_filters",), ("producer_id_filters",)),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: (
        ("subscribed_topic_names",),
        ("topic_partitions", "partitions"),
    ),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (("resources", "configs"),),
    ApiKey.ALTER_CONFIGS: (("resources", "configs"),),
    ApiKey.CREATE_ACLS: (("creations",),),
    ApiKey.DELETE_ACLS: (("filters",),),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: (("components",),),
    ApiKey.ALTER_CLIENT_QUOTAS: (("entries", "ops"), ("entries", "entity")),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (("deletions",), ("upsertions",)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (("users",),),
    ApiKey.OFFSET_DELETE: (("topics", "partitions"),),
    ApiKey.ADD_PARTITIONS_TO_TXN: (
        ("v3_and_below_topics", "partitions"),
        ("transactions", "topics", "partitions"),
    ),
    ApiKey.WRITE_TXN_MARKERS: (("markers", "topics", "partition_indexes"),),
    ApiKey.CREATE_DELEGATION_TOKEN: (("renewers",),),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: (("owners",),),
    ApiKey.DELETE_TOPICS: (("topics",), ("topic_names",)),
    ApiKey.DESCRIBE_LOG_DIRS: (("topics", "partitions"),),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: (("topics",),),
    ApiKey.CREATE_PARTITIONS: (("topics",),),
    ApiKey.ELECT_LEADERS: (("topic_partitions", "partitions"),),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (("topics", "partitions"),),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (("topics", "partition_indexes"),),
    ApiKey.ALTER_REPLICA_LOG_DIRS: (("dirs", "topics", "partitions"),),
}
ANSWERED_FACTOR = 6
"""A request with up to this many times the limit gets an error response."""
_NAMES_PARTITIONS = frozenset(
    {
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.OFFSET_COMMIT,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.DELETE_RECORDS,
        ApiKey.DESCRIBE_PRODUCERS,
    }
)


def element_limit(api: ApiKey, known_partitions: int) -> int:
    """Returns the number of elements that a request may name in a cluster of this size."""
    return known_partitions + SPARE_ELEMENTS_BY_API.get(api, SPARE_ELEMENTS)


def decoding_limit(api: ApiKey, known_partitions: int) -> int | None:
    """Returns the memory that the decoded objects of a request may use, or None for the default."""
    each = ELEMENT_BYTES.get(api)
    return None if each is None else each * element_limit(api, known_partitions)


def count_limited(api: ApiKey, request: Any) -> int:
    """Returns the number of elements of a request: those of its largest limited array."""
    paths: tuple[Path, ...] = LIMITED_ARRAYS.get(api, ())
    return max((count_elements(request, path) for path in paths), default=0)


def limit_error(api: ApiKey) -> ErrorCode:
    """Returns the error code for a request above its limit.

    A request that names more partitions than exist gets the error that makes a client refresh its
    metadata and retry.
    """
    if api in _NAMES_PARTITIONS:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.INVALID_REQUEST
