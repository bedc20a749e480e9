"""What the calls of all nouns share: the session, and words for sets of partitions."""

from collections.abc import Iterable

from barnabas.admin.session import AdminSession, Deadline
from barnabas.model.ids import TopicPartition
from barnabas.security.acl import Operation

NO_OPERATIONS_TOLD = -(2**31)


class AdminCalls:
    """Base of the nouns; the admin client is all of them together on one session."""

    _session: AdminSession

    def _deadline(self, what: str, timeout: float | None) -> Deadline:
        return self._session.deadline(what, timeout)


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Partition numbers per topic, in the order given.

    >>> by_topic([TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 0)])
    {'a': [1, 0], 'b': [0]}
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def operations_of(bits: int) -> frozenset[Operation] | None:
    """The operations of an authorized_operations field; None when they were not asked for."""
    if bits == NO_OPERATIONS_TOLD:
        return None
    return frozenset(operation for operation in Operation if bits >> operation.value & 1)
