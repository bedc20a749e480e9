"""The blocking producer: `send()` appends in the calling thread, a loop thread sends batches."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from barnabas.clients.core.backoff import check_timeout
from barnabas.clients.core.cluster_metadata import PartitionMetadata
from barnabas.clients.core.exit_hooks import (
    close_at_exit,
    closed,
    park_daemon_thread,
    report_undelivered,
)
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.clients.producer._futures_hot import SendFuture
from barnabas.clients.producer._send_hot import NO_HEADERS, BlockingSender, Headers, OnDelivery
from barnabas.clients.producer.appends import RecordAppends
from barnabas.clients.producer.core import ProducerCore
from barnabas.clients.producer.records import (
    RecordMaker,
    SentRecord,
    as_headers,
    as_timestamp,
    check_topic,
    explain_mistake,
)
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.config import merged
from barnabas.model.errors import ClosedError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.runtime.closing import ClosesOnExit
from barnabas.runtime.metric_types import MetricValues

if TYPE_CHECKING:
    from barnabas.model.config_keys.keywords import ProducerKeywords

CLOSE_SECONDS = 30.0


class Producer(BlockingSender, ClosesOnExit):
    """Sends records to topics.

    >>> with Producer({"bootstrap.servers": "localhost:9092"}) as producer:    # doctest: +SKIP
    ...     metadata = producer.send("orders", b"value", key=b"k").result(10)
    ...     metadata.partition, metadata.offset
    (0, 0)

    The configuration has Kafka's names, or snake_case keywords. Idempotence is on by default. A
    record that cannot be delivered fails its future. When the buffer is full, `send()` waits up to
    max.block.ms. Thread-safe. A process that is forked later must create its own producer.

    Args:
        config: Settings by their Kafka names, such as `{"bootstrap.servers": "localhost:9092"}`.
        options: Settings as keywords, such as `linger_ms=5`.

    Raises:
        ConfigError: A setting is unknown or invalid; the message names it.
    """

    def __init__(
        self, config: Mapping[str, object] | None = None, **options: "Unpack[ProducerKeywords]"
    ) -> None:
        settings = ProducerSettings.parse(merged(config, options))
        self._settings = settings
        self._thread = LoopThread("barnabas-producer")
        self._core = self._thread.call(_make_core(settings, self._thread))
        self._records = RecordMaker(settings, self._core.chooser)
        self._appends = RecordAppends(self._core, self._records)
        self._enable_sends(self._core.accumulator.topics, self._core)
        self._closed = False
        self._exiting = False
        close_at_exit(self)

    if TYPE_CHECKING:
        # The types of the compiled method, which a type checker does not see.
        def send(  # noqa: PLR0913 - a record has this many fields
            self,
            topic: str,
            value: Any = None,
            key: Any = None,
            headers: Headers = (),
            partition: int | None = None,
            timestamp: int | None = None,
            on_delivery: OnDelivery | None = None,
        ) -> SendFuture: ...

    def __repr__(self) -> str:
        return self._settings.client.describe("Producer")

    @property
    def core(self) -> ProducerCore:
        """The internals of this producer, for other modules of this package."""
        return self._core

    def flush(self, timeout: float | None = None) -> None:
        """Waits until every record sent so far is stored or has failed.

        Raises:
            DeadlineError: Records have no response after `timeout` seconds.
        """
        check_timeout(timeout)
        self._thread.call(self._core.flush(timeout))

    def close(self, timeout: float | None = CLOSE_SECONDS) -> None:
        """Sends the records that are not sent yet, for up to `timeout` seconds, and stops.

        An open transaction is aborted. A producer that is never closed is closed at exit. A second
        call has no effect.

        Raises:
            DeadlineError: Records have no response after `timeout` seconds; they fail.
        """
        if self._closed or self._thread.inherited:
            return
        self._thread.check_caller()
        check_timeout(timeout)
        self._reject_sends()
        try:
            self._thread.call(self._core.close(timeout))
        finally:
            self._thread.close()

    def start_exit(self, timeout_s: float, failed: bool) -> Callable[[], None]:
        """Starts to close at exit; returns a function that waits for the end."""
        self._exiting = True
        self._reject_sends()
        future = self._thread.submit(self._core.finish(timeout_s))

        def wait() -> None:
            try:
                future.result(timeout_s + 1.0)
            except BaseException as error:  # also a second Ctrl-C
                cause = str(error) or type(error).__name__
                report_undelivered(self._core.accumulator.incomplete_records(), cause)
                if not isinstance(error, Exception):
                    raise

        return wait

    def partitions_for(self, topic: str) -> list[PartitionMetadata]:
        """Returns the partitions of a topic by number, each with leader, replicas and ISR.

        >>> [item.leader for item in producer.partitions_for("orders")]  # doctest: +SKIP
        [Node(id=1, host='kafka1', port=9092, rack=None), ...]
        """
        return self._thread.call(self._core.partitions_for(topic))

    def ping(self, timeout: float = 10.0) -> None:
        """Sends one request to a broker and waits for the response, without retries.

        Raises:
            AuthenticationError: The login was rejected, or only one side uses TLS.
            DeadlineError: There is no response after `timeout` seconds.
            UnavailableError: The host is unknown, refuses connections or is not a broker.

        >>> producer.ping()  # doctest: +SKIP
        """
        self._thread.call(self._core.client.ping(timeout))

    # -- metrics -------------------------------------------------------------------------------

    def metrics(self) -> MetricValues:
        """Returns the current metrics, under Kafka's names (docs/metrics.md). Any thread.

        >>> producer.metrics().value("record-send-rate")  # doctest: +SKIP
        1250.4
        """
        return MetricValues(self._core.metrics.read())

    def client_instance_id(self, timeout: float = 10.0) -> Uuid:
        """Returns the id under which this client pushes its metrics (KIP-714).

        Args:
            timeout: seconds to wait for a broker.

        Raises:
            LocalError: enable.metrics.push is false.
            BrokerError: the brokers do not collect metrics of clients.
            DeadlineError: there is no response after `timeout` seconds.
        """
        return self._thread.call(self._core.client.client_instance_id(timeout))

    # -- transactions --------------------------------------------------------------------------

    def init_transactions(self, timeout: float = 60.0) -> None:
        """Prepares for transactions: call it once, before the first transaction.

        Aborts a transaction that an earlier producer with this transactional.id left open, and
        prevents that producer from sending (KIP-98).
        """
        self._thread.call(self._core.init_transactions(timeout))

    def begin_transaction(self) -> None:
        """Begins a transaction; raises LocalError if one is open."""
        self._thread.call(self._core.begin_transaction())

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata,
        timeout: float = 60.0,
    ) -> None:
        """Adds the offsets of a consumer to the transaction; they are committed with it.

        Args:
            offsets: The offset of the next record to read, for each partition.
            group: `consumer.group_metadata()` of the consumer.

        >>> producer.send_offsets_to_transaction(  # doctest: +SKIP
        ...     {TopicPartition("orders", 0): record.offset + 1}, consumer.group_metadata()
        ... )
        """
        positions = {
            topic_partition: OffsetAndMetadata(value) if isinstance(value, int) else value
            for topic_partition, value in offsets.items()
        }
        self._thread.call(self._core.send_offsets(positions, group, timeout))

    def commit_transaction(self, timeout: float = 60.0) -> None:
        """Sends the records that are not sent yet and commits the transaction.

        Raises:
            BarnabasError: A record of the transaction failed; call `abort_transaction()`.
        """
        self._thread.call(self._core.commit_transaction(timeout))

    def abort_transaction(self, timeout: float = 60.0) -> None:
        """Drops the records that are not sent yet and aborts the transaction."""
        self._thread.call(self._core.abort_transaction(timeout))

    # -- private ------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if not self._closed:
            return
        if self._exiting:
            park_daemon_thread()
        raise ClosedError("the producer is closed")

    def _reject_sends(self) -> None:
        closed(self)
        self._closed = True
        self._core.direct = False

    def _send(
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Headers,
        partition: int | None,
        timestamp: int | None,
    ) -> SendFuture:
        """Sends a record that does not fit into an open batch, or explains why that failed."""
        future = None
        try:
            pairs = as_headers(headers) if headers else NO_HEADERS
            if timestamp is not None:
                timestamp = as_timestamp(timestamp)
            appender = self._core.accumulator.topics.get(topic)
            if appender is not None and self._core.direct:
                future = appender.try_send(key, value, pairs, partition, timestamp)
                if future is None and pairs is NO_HEADERS:
                    future = self._appends.try_open(
                        appender, topic, key, value, partition, timestamp
                    )
            if future is None:
                future = self._send_slowly(topic, value, key, pairs, (partition, timestamp))
        except (TypeError, ValueError, AttributeError):
            explain_mistake(topic, headers)
            raise
        return future

    def _send_slowly(
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Headers,
        where: tuple[int | None, int | None],
    ) -> SendFuture:
        """Sends a record that is not simply appended to an open batch."""
        self._check_open()
        check_topic(topic)
        if self._core.transaction is not None:
            self._core.transaction.check_open()
        # A new list: an interceptor may change it.
        pairs = as_headers(headers) if headers else []
        record = SentRecord(topic, value, key, pairs, *where)
        record = self._records.intercept(record)
        try:
            sent = self._records.make(record)
            future = self._appends.append(sent)
        except Exception as error:  # noqa: BLE001 - raised again if it is not about delivery
            return self._appends.rejected(record, error)
        self._records.sent(sent, future)
        return future


async def _make_core(settings: ProducerSettings, thread: LoopThread) -> ProducerCore:
    return ProducerCore(settings, thread)
