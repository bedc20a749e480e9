"""The transaction coordinator of one broker: finds the shard of a transactional id."""

from collections.abc import Iterator, Mapping
from typing import Any

from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.shard_host import ShardHost
from barnabas.broker.coordinators.shard_runtime import ReplyReceiver
from barnabas.broker.coordinators.transaction_shard import (
    TransactionOperation,
    TransactionSettings,
    TransactionShardDriver,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.topic_names import TRANSACTIONS_TOPIC
from barnabas.replication.partition import Partition
from barnabas.transactions.config import TransactionConfig


class TransactionCoordinator:
    """Owned by the broker's loop. Requests for ids that live elsewhere raise BrokerError."""

    def __init__(
        self, values: Mapping[str, Any], topics: InternalTopics, settings: TransactionSettings
    ) -> None:
        self._config = TransactionConfig.from_values(values)
        self._topics = topics
        self._settings = settings
        self._host = ShardHost(
            TRANSACTIONS_TOPIC, values["transaction.state.log.load.buffer.size"], self._make
        )

    def run(
        self, transactional_id: str, operation: TransactionOperation, receiver: ReplyReceiver
    ) -> None:
        """Runs an operation on the id's shard; `receiver` gets the reply, now or later."""
        self.shard_of(transactional_id).run(operation, receiver)

    def shard_of(self, transactional_id: str) -> TransactionShardDriver:
        """The shard of an id; COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR."""
        topic_partition = self._topics.partition_of(TRANSACTIONS_TOPIC, transactional_id)
        return self._host.get(topic_partition.partition)

    def all_shards(self) -> Iterator[TransactionShardDriver]:
        """Every shard of this broker; COORDINATOR_LOAD_IN_PROGRESS while one is missing."""
        if self._host.loading:
            raise BrokerError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return self._host.active()

    def now_ms(self) -> int:
        """The time transactions are measured by."""
        return self._settings.steady.now_ms()

    def leadership_changed(self, partition: Partition) -> None:
        self._host.leadership_changed(partition)

    async def stop(self) -> None:
        await self._host.stop()

    def _make(self, partition: Partition) -> TransactionShardDriver:
        # As with groups: a broker without transactions starts sooner.
        from barnabas.transactions.shard import TransactionCoordinatorShard

        shard = TransactionCoordinatorShard(partition.leader_epoch, self._config)
        return TransactionShardDriver(shard, partition, self._settings)
