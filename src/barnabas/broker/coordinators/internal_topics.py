"""Creates the coordinators' internal topics when a client first looks for a coordinator."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.topics import Topics, TopicSpec
from barnabas.model.config import ConfigValues
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import OFFSETS_TOPIC, TRANSACTIONS_TOPIC, TopicPartition
from barnabas.model.java_hash import coordinator_partition

_CREATION_WAIT_MS = 5_000


@dataclass(frozen=True, slots=True)
class _Plan:
    """Settings of a topic; `replicas` is the maximum, if there are enough brokers."""

    partitions: int
    replicas: int
    configs: Mapping[str, str]
    min_insync: int | None = None


class InternalTopics:
    """Maps groups and transactional ids to partitions; owned by the broker's loop."""

    def __init__(self, values: ConfigValues, topics: Topics, metadata: MetadataCache) -> None:
        self._topics = topics
        self._metadata = metadata
        self._plans = {
            OFFSETS_TOPIC: _offsets_plan(values),
            TRANSACTIONS_TOPIC: _transactions_plan(values),
        }
        self._creating: dict[str, asyncio.Task[None]] = {}

    def partition_of(self, topic: str, key: str) -> TopicPartition:
        """Returns the partition of `key`, by the configured count until the topic exists."""
        known = self._metadata.partitions(topic)
        count = len(known) if known else self._plans[topic].partitions
        return TopicPartition(topic, coordinator_partition(key, count))

    def coordinated_partition(self, topic: str, key: str) -> int:
        """Returns the number of the partition that coordinates `key`.

        Raises NOT_COORDINATOR until the metadata contains the topic: a starting broker gets its
        leaderships before the metadata, and the configured count may differ from the topic's.
        With another count the key would belong to another partition, whose shard has no offsets of
        the group, and the client would get "no offsets" instead of an error.
        """
        if not self._metadata.has_topic(topic):
            raise BrokerError(ErrorCode.NOT_COORDINATOR)
        return self.partition_of(topic, key).partition

    def exists(self, topic: str) -> bool:
        return self._metadata.has_topic(topic)

    async def ensure(self, topic: str) -> None:
        """Creates the topic if it does not exist; raises BrokerError at the timeout.

        Concurrent calls wait for one creation.
        """
        if self._metadata.has_topic(topic):
            return
        task = self._creating.get(topic)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._create(topic))
            self._creating[topic] = task
            task.add_done_callback(lambda _: self._creating.pop(topic, None))
        await asyncio.shield(task)

    async def stop(self) -> None:
        """Cancels creations in progress."""
        for task in list(self._creating.values()):
            task.cancel()
        await asyncio.gather(*self._creating.values(), return_exceptions=True)

    async def _create(self, topic: str) -> None:
        plan = self._plans[topic]
        factor = max(1, min(plan.replicas, len(list(self._metadata.brokers()))))
        configs = dict(plan.configs)
        if plan.min_insync is not None:
            configs["min.insync.replicas"] = str(min(plan.min_insync, factor))
        try:
            await self._topics.create(TopicSpec(topic, plan.partitions, factor, configs=configs))
        except BrokerError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
        await self._topics.wait_for_leaders(topic, 1, _CREATION_WAIT_MS)


def _offsets_plan(values: ConfigValues) -> _Plan:
    configs = {
        "cleanup.policy": "compact",
        "segment.bytes": str(values["offsets.topic.segment.bytes"]),
        "compression.type": "producer",
    }
    partitions = values["offsets.topic.num.partitions"]
    return _Plan(partitions, values["offsets.topic.replication.factor"], configs)


def _transactions_plan(values: ConfigValues) -> _Plan:
    configs = {
        "cleanup.policy": "compact",
        "segment.bytes": str(values["transaction.state.log.segment.bytes"]),
        "compression.type": "uncompressed",
        "unclean.leader.election.enable": "false",
    }
    return _Plan(
        values["transaction.state.log.num.partitions"],
        values["transaction.state.log.replication.factor"],
        configs,
        values["transaction.state.log.min.isr"],
    )
