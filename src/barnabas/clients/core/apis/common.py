"""Grouping of partitions and reading of error codes, shared by the modules of all APIs."""

from collections.abc import Iterable

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition

CONSUMER_REPLICA_ID = -1
"""Replica id of a request that a client sends; brokers send their own id."""


def by_topic(topic_partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """Groups partition numbers by topic, in the given order.

    >>> by_topic([TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 0)])
    {'a': [1, 0], 'b': [0]}
    """
    topics: dict[str, list[int]] = {}
    for topic, partition in topic_partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def error_for(error_code: int, what: str) -> BrokerError | None:
    """Returns the error of one item of a response, with `what` in its message, or None."""
    if not error_code:
        return None
    code = ErrorCode.of(error_code)
    return BrokerError(code, f"{what}: {code.explanation}")


def raise_for(error_code: int, what: str) -> None:
    """Raises the error of one item of a response, if it has one."""
    error = error_for(error_code, what)
    if error is not None:
        raise error
