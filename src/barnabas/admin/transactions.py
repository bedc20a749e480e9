"""Transactions: list, describe, abort hanging ones, fence producers."""

from collections.abc import Iterable

from barnabas.admin.fan_out import Outcome, per_broker, per_coordinator, per_item, per_leader
from barnabas.admin.group_types import (
    FencedProducer,
    HangingTransaction,
    ProducerDescription,
    TransactionDescription,
    TransactionListing,
)
from barnabas.admin.results import Results, error_of, raise_error
from barnabas.admin.session import AdminCalls
from barnabas.clients.core.client import TRANSACTION
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition, by_topic
from barnabas.wire.messages import describe_producers as producers
from barnabas.wire.messages import describe_transactions as describing
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest
from barnabas.wire.messages.list_transactions import ListTransactionsRequest
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

FENCING_TIMEOUT_MS = 60_000


class TransactionCalls(AdminCalls):
    """Calls on transactions."""

    async def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        running_longer_than: float | None = None,
        pattern: str | None = None,
        timeout: float | None = None,
    ) -> list[TransactionListing]:
        """Returns the transactional ids of all coordinators.

        Args:
            states: only these states.
            producer_ids: only these producer ids.
            running_longer_than: only transactions open for more than this many seconds.
            pattern: only transactional ids that match this regular expression.
        """
        deadline = self._deadline("list transactions", timeout)
        request = ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=list(producer_ids),
            duration_filter=-1 if running_longer_than is None else int(running_longer_than * 1000),
            transactional_id_pattern=pattern,
        )

        needed = 2 if pattern is not None else 1 if running_longer_than is not None else 0

        async def send(broker_id: int) -> list[TransactionListing]:
            what = "to filter transactions by age or name"
            await self._session.require(ListTransactionsRequest, needed, what, broker_id)
            response = await self._session.client.send(broker_id, request)
            raise_error(response)
            return [
                TransactionListing(
                    item.transactional_id, item.producer_id, item.transaction_state, broker_id
                )
                for item in response.transaction_states
            ]

        brokers = await self._session.brokers(deadline)
        by_broker = (await per_broker(self._session, send, brokers, deadline)).check()
        listings = [item for listed in by_broker.values() for item in listed]
        return sorted(listings, key=lambda item: item.transactional_id)

    async def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, TransactionDescription]:
        """Describes state, producer and partitions of transactional ids."""
        deadline = self._deadline("describe transactions", timeout)

        async def send(node: int, pending: list[str]) -> Outcome[str, TransactionDescription]:
            request = describing.DescribeTransactionsRequest(transactional_ids=pending)
            response = await self._session.client.send(node, request)
            return {
                item.transactional_id: error_of(item) or _transaction(item, node)
                for item in response.transaction_states
            }

        return await per_coordinator(self._session, TRANSACTION, transactional_ids, send, deadline)

    async def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        *,
        broker: int | None = None,
        timeout: float | None = None,
    ) -> Results[TopicPartition, tuple[ProducerDescription, ...]]:
        """Describes the active producers of partitions, on the leaders or on one broker."""
        deadline = self._deadline("describe producers", timeout)

        async def send(
            node: int, pending: list[TopicPartition]
        ) -> Outcome[TopicPartition, tuple[ProducerDescription, ...]]:
            request = producers.DescribeProducersRequest(
                topics=[
                    producers.TopicRequest(name=topic, partition_indexes=numbers)
                    for topic, numbers in by_topic(pending).items()
                ]
            )
            response = await self._session.send_to_broker(node, request)
            return {
                TopicPartition(topic.name, item.partition_index): error_of(item)
                or tuple(_producer(state) for state in item.active_producers)
                for topic in response.topics
                for item in topic.partitions
            }

        if broker is None:
            return await per_leader(self._session, partitions, send, deadline)
        chosen = broker
        return await per_item(
            self._session, partitions, lambda pending: send(chosen, pending), deadline
        )

    async def abort_transaction(
        self, hanging: HangingTransaction, *, timeout: float | None = None
    ) -> None:
        """Writes an abort marker for a transaction that its coordinator has forgotten."""
        deadline = self._deadline(f"abort a transaction in {hanging.partition}", timeout)

        async def send(
            leader: int, partitions: list[TopicPartition]
        ) -> Outcome[TopicPartition, None]:
            response = await self._session.client.send(leader, _abort_marker(hanging))
            return {
                TopicPartition(topic.name, item.partition_index): error_of(item)
                for marker in response.markers
                for topic in marker.topics
                for item in topic.partitions
            }

        (await per_leader(self._session, [hanging.partition], send, deadline)).check()

    async def fence_producers(
        self, transactional_ids: Iterable[str], *, timeout: float | None = None
    ) -> Results[str, FencedProducer]:
        """Fences the producers of transactional ids and aborts their open transactions."""
        deadline = self._deadline("fence producers", timeout)

        async def send(node: int, pending: list[str]) -> Outcome[str, FencedProducer]:
            found: dict[str, FencedProducer | BarnabasError] = {}
            for transactional_id in pending:
                request = InitProducerIdRequest(
                    transactional_id=transactional_id, transaction_timeout_ms=FENCING_TIMEOUT_MS
                )
                response = await self._session.client.send(node, request)
                found[transactional_id] = error_of(response) or FencedProducer(
                    response.producer_id, response.producer_epoch
                )
            return found

        return await per_coordinator(self._session, TRANSACTION, transactional_ids, send, deadline)


def _transaction(item: describing.TransactionState, coordinator: int) -> TransactionDescription:
    started = item.transaction_start_time_ms
    return TransactionDescription(
        item.transactional_id,
        coordinator,
        item.transaction_state,
        item.producer_id,
        item.producer_epoch,
        item.transaction_timeout_ms,
        started if started >= 0 else None,
        tuple(
            TopicPartition(topic.topic, partition)
            for topic in item.topics
            for partition in topic.partitions
        ),
    )


def _producer(state: producers.ProducerState) -> ProducerDescription:
    return ProducerDescription(
        state.producer_id,
        state.producer_epoch,
        state.last_sequence,
        state.last_timestamp,
        state.coordinator_epoch if state.coordinator_epoch >= 0 else None,
        state.current_txn_start_offset if state.current_txn_start_offset >= 0 else None,
    )


def _abort_marker(hanging: HangingTransaction) -> WriteTxnMarkersRequest:
    topic, partition = hanging.partition
    marker = WritableTxnMarker(
        producer_id=hanging.producer_id,
        producer_epoch=hanging.producer_epoch,
        coordinator_epoch=hanging.coordinator_epoch,
        transaction_result=False,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[partition])],
    )
    return WriteTxnMarkersRequest(markers=[marker])
