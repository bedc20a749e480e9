"""Transactions across brokers: markers to other leaders, requests to other coordinators."""

from collections.abc import Callable, Mapping

from barnabas.broker.cluster.links import BrokerLinks
from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.markers import EndOfTransaction, Results
from barnabas.broker.coordinators.verification import AddPartitionsToTxnManager, Verified
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.tasks import BackgroundTasks
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TRANSACTIONS_TOPIC, BrokerId, TopicPartition, by_topic
from barnabas.transactions.requests import AddPartitions
from barnabas.wire.messages import add_partitions_to_txn as adding
from barnabas.wire.messages import write_txn_markers as marking

_ADD_VERSION, _VERIFY_VERSION = 5, 4


class RemoteMarkers:
    """A `MarkerChannel` that sends requests; owned by the broker's loop."""

    def __init__(self, links: BrokerLinks) -> None:
        self._links = links
        self._tasks = BackgroundTasks()

    def send(
        self,
        broker_id: BrokerId,
        end: EndOfTransaction,
        partitions: tuple[TopicPartition, ...],
        done: Callable[[Results], None],
    ) -> None:
        self._tasks.start(self._send(broker_id, end, partitions, done))

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _send(
        self,
        broker_id: BrokerId,
        end: EndOfTransaction,
        partitions: tuple[TopicPartition, ...],
        done: Callable[[Results], None],
    ) -> None:
        marker = marking.WritableTxnMarker(
            end.producer_id,
            end.producer_epoch,
            end.commit,
            [
                marking.WritableTxnMarkerTopic(topic, numbers)
                for topic, numbers in by_topic(partitions).items()
            ],
            end.coordinator_epoch,
            end.transaction_version,
        )
        results: Results = dict.fromkeys(partitions, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        try:
            response: marking.WriteTxnMarkersResponse = await self._links.to(broker_id).request(
                marking.WriteTxnMarkersRequest([marker])
            )
        except (BarnabasError, OSError):
            done(results)  # sent again to the leader at that time
            return
        for marker_result in response.markers:
            for topic in marker_result.topics:
                for item in topic.partitions:
                    topic_partition = TopicPartition(topic.name, item.partition_index)
                    results[topic_partition] = ErrorCode.of(item.error_code)
        done(results)


class RoutedAddPartitions:
    """Sends AddPartitionsToTxn to the broker that coordinates; owned by the broker's loop."""

    def __init__(
        self,
        broker_id: BrokerId,
        metadata: MetadataCache,
        internal_topics: InternalTopics,
        local: AddPartitionsToTxnManager,
        links: BrokerLinks,
    ) -> None:
        self._broker_id = broker_id
        self._metadata = metadata
        self._internal_topics = internal_topics
        self._local = local
        self._links = links
        self._tasks = BackgroundTasks()

    def add_or_verify(self, request: AddPartitions, on_results: Verified) -> None:
        topic_partition = self._internal_topics.partition_of(
            TRANSACTIONS_TOPIC, request.transactional_id
        )
        state = self._metadata.partition(topic_partition)
        if state is None or state.leader < 0 or state.leader == self._broker_id:
            self._local.add_or_verify(request, on_results)
        else:
            self._tasks.start(self._request(state.leader, request, on_results))

    async def stop(self) -> None:
        await self._tasks.stop()

    async def _request(
        self, broker_id: BrokerId, request: AddPartitions, on_results: Verified
    ) -> None:
        transaction = adding.AddPartitionsToTxnTransaction(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            request.verify_only,
            [
                adding.AddPartitionsToTxnTopic(topic, partitions)
                for topic, partitions in by_topic(sorted(request.partitions)).items()
            ],
        )
        version = _ADD_VERSION if request.transaction_version >= 2 else _VERIFY_VERSION
        try:
            response: adding.AddPartitionsToTxnResponse = await self._links.to(broker_id).request(
                adding.AddPartitionsToTxnRequest([transaction]), version=version
            )
        except (BarnabasError, OSError):
            # The error of a coordinator that moves: the producer sends the batch again.
            on_results(dict.fromkeys(request.partitions, ErrorCode.NOT_COORDINATOR))
            return
        on_results(_results(request, response))


def _results(
    request: AddPartitions, response: adding.AddPartitionsToTxnResponse
) -> Mapping[TopicPartition, ErrorCode]:
    general = ErrorCode.of(response.error_code) or ErrorCode.NOT_COORDINATOR
    results = dict.fromkeys(request.partitions, general)
    for transaction in response.results_by_transaction:
        for topic in transaction.topic_results:
            for item in topic.results_by_partition:
                topic_partition = TopicPartition(topic.name, item.partition_index)
                results[topic_partition] = ErrorCode.of(item.partition_error_code)
    return results
