"""Log directories: describe their replicas and sizes, move replicas between them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from barnabas.admin.calls import AdminCalls
from barnabas.admin.errors import error_of, raise_error
from barnabas.admin.fan_out import Outcome, per_broker, per_item
from barnabas.admin.results import Results
from barnabas.clients.core.apis.common import by_topic
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from barnabas.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResult,
)


class Replica(NamedTuple):
    """The replica of a partition on one broker."""

    topic: str
    partition: int
    broker: int


@dataclass(frozen=True, slots=True)
class ReplicaInfo:
    """Size and lag of a replica; `future` marks a copy that is being moved to this directory."""

    size_bytes: int
    offset_lag: int
    future: bool


@dataclass(frozen=True, slots=True)
class LogDir:
    """A log directory; `error` is set if it is offline. Totals are None for old brokers."""

    path: str
    error: BrokerError | None
    replicas: dict[TopicPartition, ReplicaInfo]
    total_bytes: int | None = None
    usable_bytes: int | None = None


class LogDirCalls(AdminCalls):
    """Calls on log directories."""

    async def describe_log_dirs(
        self,
        brokers: Iterable[int] | None = None,
        *,
        partitions: Iterable[TopicPartition] | None = None,
        timeout: float | None = None,
    ) -> Results[int, tuple[LogDir, ...]]:
        """Describe the log directories of brokers (default: all brokers)."""
        deadline = self._deadline("describe log dirs", timeout)
        topics = None
        if partitions is not None:
            topics = [
                DescribableLogDirTopic(topic=topic, partitions=numbers)
                for topic, numbers in by_topic(partitions).items()
            ]

        async def ask(broker_id: int) -> tuple[LogDir, ...]:
            request = DescribeLogDirsRequest(topics=topics)
            response = await self._session.ask_broker(broker_id, request)
            raise_error(response)
            return tuple(_log_dir(item) for item in response.results)

        chosen = await self._session.brokers(deadline) if brokers is None else brokers
        return await per_broker(self._session, ask, chosen, deadline)

    async def alter_replica_log_dirs(
        self, moves: Mapping[Replica, str], *, timeout: float | None = None
    ) -> Results[Replica, None]:
        """Move replicas to other log directories of the same broker."""
        deadline = self._deadline("alter replica log dirs", timeout)

        async def attempt(pending: list[Replica]) -> Outcome[Replica, None]:
            found: dict[Replica, BarnabasError | None] = {}
            for broker in sorted({replica.broker for replica in pending}):
                mine = {item: moves[item] for item in pending if item.broker == broker}
                response = await self._session.ask_broker(broker, _moves(mine))
                for topic in response.results:
                    for item in topic.partitions:
                        replica = Replica(topic.topic_name, item.partition_index, broker)
                        found[replica] = error_of(item)
            return found

        return await per_item(self._session, moves, attempt, deadline)


def _log_dir(item: DescribeLogDirsResult) -> LogDir:
    return LogDir(
        item.log_dir,
        error_of(item),
        {
            TopicPartition(topic.name, part.partition_index): ReplicaInfo(
                part.partition_size, part.offset_lag, part.is_future_key
            )
            for topic in item.topics
            for part in topic.partitions
        },
        item.total_bytes if item.total_bytes >= 0 else None,
        item.usable_bytes if item.usable_bytes >= 0 else None,
    )


def _moves(moves: Mapping[Replica, str]) -> AlterReplicaLogDirsRequest:
    dirs: dict[str, list[TopicPartition]] = {}
    for replica, path in moves.items():
        dirs.setdefault(path, []).append(TopicPartition(replica.topic, replica.partition))
    return AlterReplicaLogDirsRequest(
        dirs=[
            AlterReplicaLogDir(
                path=path,
                topics=[
                    AlterReplicaLogDirTopic(name=topic, partitions=numbers)
                    for topic, numbers in by_topic(topic_partitions).items()
                ],
            )
            for path, topic_partitions in dirs.items()
        ]
    )
