"""Base class and functions that the calls of all resource types share."""

from collections.abc import Iterable

from barnabas.admin.session import AdminSession, Deadline
from barnabas.model.ids import TopicPartition
from barnabas.security.acl import Operation

OPERATIONS_NOT_REQUESTED = -(2**31)


class AdminCalls:
    """Base of the call classes; the admin client inherits from all of them."""

    _session: AdminSession

    def _deadline(self, what: str, timeout: float | None) -> Deadline:
        return self._session.deadline(what, timeout)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Groups partition numbers by topic, in the given order.

    >>> by_topic([TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 0)])
    {'a': [1, 0], 'b': [0]}
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def operations_of(bits: int) -> frozenset[Operation] | None:
    """Decodes an authorized_operations field; returns None if the request did not ask for it."""
    if bits == OPERATIONS_NOT_REQUESTED:
        return None
    return frozenset(operation for operation in Operation if bits >> operation.value & 1)
