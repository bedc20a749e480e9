"""The operations that a caller may perform, as the bit sets in responses.

Without an authorizer every caller may perform all operations of the resource type.
"""

from barnabas.security.acl import Operation


def _bits(*operations: Operation) -> int:
    """Returns a set in which bit N stands for the operation with number N (KIP-430)."""
    return sum(1 << int(operation.value) for operation in operations)


NOT_ASKED = -(2**31)
"""The value in responses to requests that do not ask for the operations."""

ALL_ON_TOPIC = _bits(
    Operation.READ,
    Operation.WRITE,
    Operation.CREATE,
    Operation.DELETE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
ALL_ON_GROUP = _bits(
    Operation.READ,
    Operation.DELETE,
    Operation.DESCRIBE,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
)
ALL_ON_CLUSTER = _bits(
    Operation.CREATE,
    Operation.ALTER,
    Operation.DESCRIBE,
    Operation.CLUSTER_ACTION,
    Operation.DESCRIBE_CONFIGS,
    Operation.ALTER_CONFIGS,
    Operation.IDEMPOTENT_WRITE,
)
