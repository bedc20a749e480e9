"""Fetch: requests for batches of records, with and without a fetch session."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)

LAST_FETCH_BY_NAME = 12
"""Last version that names topics; later ones use topic ids."""

FINAL_EPOCH = -1
"""Session epoch of a request outside a session, or of one that ends its session."""


class FetchTarget(NamedTuple):
    """One partition of a request. `leader_epoch` is the one that the client has from metadata."""

    topic_id: Uuid
    offset: int
    leader_epoch: int
    max_bytes: int


class FetchOptions(NamedTuple):
    """The fields of a request that apply to all its partitions."""

    max_wait_ms: int
    min_bytes: int
    max_bytes: int
    isolation: IsolationLevel
    rack: str = ""


@dataclass(frozen=True, slots=True)
class FetchSelection:
    """The partitions that a request names, and the fetch session (KIP-227) to which it belongs.

    The defaults describe a request outside a session. `forgotten` are the partitions that the
    broker removes from the session. `by_id` says whether topic ids are used.
    """

    targets: Mapping[TopicPartition, FetchTarget]
    by_id: bool
    session_id: int = 0
    session_epoch: int = FINAL_EPOCH
    forgotten: Mapping[TopicPartition, Uuid] = field(default_factory=dict)

    def version(self, newest: int) -> int:
        """Returns the version to send, given the newest one that both sides support."""
        return newest if self.by_id else min(newest, LAST_FETCH_BY_NAME)


def all_have_ids(targets: Mapping[TopicPartition, FetchTarget]) -> bool:
    """Returns whether every topic has an id; brokers before 2.8 have no topic ids."""
    return all(target.topic_id != ZERO_UUID for target in targets.values())


def fetch_request(selection: FetchSelection, options: FetchOptions) -> FetchRequest:
    """Builds the request for one broker; partitions have the order of `selection.targets`.

    The order matters: a broker fills the response from the first partition on.
    """
    topics: dict[tuple[str, Uuid], list[FetchPartition]] = {}
    for topic_partition, target in selection.targets.items():
        topics.setdefault((topic_partition.topic, target.topic_id), []).append(
            FetchPartition(
                partition=topic_partition.partition,
                current_leader_epoch=target.leader_epoch,
                fetch_offset=target.offset,
                partition_max_bytes=target.max_bytes,
            )
        )
    forgotten: dict[tuple[str, Uuid], list[int]] = {}
    for topic_partition, topic_id in selection.forgotten.items():
        forgotten.setdefault((topic_partition.topic, topic_id), []).append(
            topic_partition.partition
        )
    return FetchRequest(
        max_wait_ms=options.max_wait_ms,
        min_bytes=options.min_bytes,
        max_bytes=options.max_bytes,
        isolation_level=options.isolation,
        session_id=selection.session_id,
        session_epoch=selection.session_epoch,
        topics=[
            FetchTopic(topic=topic, topic_id=topic_id, partitions=items)
            for (topic, topic_id), items in topics.items()
        ],
        forgotten_topics_data=[
            ForgottenTopic(topic=topic, topic_id=topic_id, partitions=numbers)
            for (topic, topic_id), numbers in forgotten.items()
        ],
        rack_id=options.rack,
    )


def close_session_request(session_id: int) -> FetchRequest:
    """Builds the request that ends a fetch session, so that the broker frees its memory."""
    return FetchRequest(
        max_wait_ms=0, min_bytes=0, session_id=session_id, session_epoch=FINAL_EPOCH
    )


def fetched_partitions(
    response: FetchResponse, names: Mapping[Uuid, str]
) -> Iterator[tuple[TopicPartition, PartitionData]]:
    """Yields each partition of a response; skips topic ids that are not in `names`."""
    for topic in response.responses:
        name = topic.topic or names.get(topic.topic_id)
        if name is None:
            continue
        for data in topic.partitions:
            yield TopicPartition(name, data.partition_index), data


def aborted_transactions(
    data: PartitionData, isolation: IsolationLevel
) -> tuple[tuple[int, int], ...] | None:
    """Returns (producer id, first offset) of aborted transactions; None for READ_UNCOMMITTED."""
    if isolation is not IsolationLevel.READ_COMMITTED:
        return None
    entries = data.aborted_transactions or ()
    return tuple((entry.producer_id, entry.first_offset) for entry in entries)
