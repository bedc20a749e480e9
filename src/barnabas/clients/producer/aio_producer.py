"""The asyncio producer: the same core as the blocking one, on the event loop of the caller."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from barnabas.clients.core.backoff import check_timeout
from barnabas.clients.core.cluster_metadata import PartitionMetadata
from barnabas.clients.core.exit_hooks import LoopClient, loop_of
from barnabas.clients.producer._futures_hot import Delivery, SendFuture
from barnabas.clients.producer._send_hot import DirectSender, Headers, OnDelivery
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
from barnabas.model.record_metadata import RecordMetadata
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.runtime.closing import AsyncClosesOnExit
from barnabas.runtime.metric_types import MetricValues
from barnabas.runtime.slices import SLICE_S

if TYPE_CHECKING:
    from barnabas.model.config_keys.keywords import ProducerKeywords

CLOSE_SECONDS = 30.0


class Producer(DirectSender, AsyncClosesOnExit):
    """Sends records to topics; created and used in a running event loop.

    >>> async def main():
    ...     async with Producer(bootstrap_servers="localhost:9092") as producer:
    ...         delivery = await producer.send("orders", b"value", key=b"k")
    ...         metadata = await delivery

    `await send()` returns when the record is in a batch; it waits up to max.block.ms for metadata
    and buffer memory. The future that it returns has the record's metadata or error as its result.

    Args:
        config: Settings by their Kafka names, such as `{"bootstrap.servers": "localhost:9092"}`.
        options: Settings as keywords, such as `linger_ms=5`.

    Raises:
        ConfigError: A setting is unknown or invalid; the message names it.
    """

    def __init__(
        self, config: Mapping[str, object] | None = None, **options: "Unpack[ProducerKeywords]"
    ) -> None:
        self._settings = ProducerSettings.parse(merged(config, options))
        self._loop = loop_of(self)
        self._core = ProducerCore(self._settings)
        self._records = RecordMaker(self._settings, self._core.chooser)
        self._appends = RecordAppends(self._core, self._records)
        self._enable_sends(self._core.accumulator.topics, self._core, self._loop)
        self._closed = False
        self._runs_by_s = 0.0  # the loop runs with the first new batch from this time on
        self._exit = LoopClient(self._finish, self._core.accumulator.incomplete_records)

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
        ) -> Coroutine[Any, Any, Delivery]: ...

    def __repr__(self) -> str:
        return self._settings.client.describe("Producer")

    async def send_and_wait(self, topic: str, value: Any = None, **more: Any) -> RecordMetadata:
        """Sends one record and waits until it is stored; raises the error of its delivery."""
        metadata: RecordMetadata = await (await self.send(topic, value, **more))
        return metadata

    async def flush(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the API's word
        """Waits until every record sent so far is stored or has failed.

        Raises:
            DeadlineError: Records have no response after `timeout` seconds.
        """
        check_timeout(timeout)
        await self._core.flush(timeout)

    async def close(self, timeout: float | None = CLOSE_SECONDS) -> None:  # noqa: ASYNC109
        """Sends the records that are not sent yet, for up to `timeout` seconds, and stops.

        An open transaction is aborted. A producer that is never closed is closed when
        `asyncio.run` shuts its loop down, or at exit. A second call has no effect.
        """
        if not self._closed:
            check_timeout(timeout)
            self._reject_sends()
            try:
                await self._core.close(timeout)
            finally:
                await self._exit.closed()

    async def partitions_for(self, topic: str) -> list[PartitionMetadata]:
        """Returns the partitions of a topic by number, each with leader, replicas and ISR."""
        return await self._core.partitions_for(topic)

    async def ping(self, timeout: float = 10.0) -> None:  # noqa: ASYNC109
        """Sends one request to a broker and waits for the response, without retries.

        Raises:
            AuthenticationError: The login was rejected, or only one side uses TLS.
            DeadlineError: There is no response after `timeout` seconds.
            UnavailableError: The host is unknown, refuses connections or is not a broker.

        >>> await producer.ping()  # doctest: +SKIP
        """
        await self._core.client.ping(timeout)

    # -- metrics -------------------------------------------------------------------------------

    def metrics(self) -> MetricValues:
        """Returns the current metrics, under Kafka's names (docs/metrics.md). Any thread.

        >>> producer.metrics().value("record-send-rate")  # doctest: +SKIP
        1250.4
        """
        return MetricValues(self._core.metrics.read())

    async def client_instance_id(self, timeout: float = 10.0) -> Uuid:  # noqa: ASYNC109
        """Returns the id under which this client pushes its metrics (KIP-714).

        Args:
            timeout: seconds to wait for a broker.

        Raises:
            LocalError: enable.metrics.push is false.
            BrokerError: the brokers do not collect metrics of clients.
            DeadlineError: there is no response after `timeout` seconds.
        """
        return await self._core.client.client_instance_id(timeout)

    # -- transactions --------------------------------------------------------------------------

    async def init_transactions(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109
        """Prepares for transactions: call it once, before the first transaction."""
        await self._core.init_transactions(timeout)

    async def begin_transaction(self) -> None:
        """Begins a transaction; raises LocalError if one is open."""
        await self._core.begin_transaction()

    async def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata,
        timeout: float = 60.0,  # noqa: ASYNC109
    ) -> None:
        """Adds the offsets of a consumer to the transaction; they are committed with it."""
        positions = {
            topic_partition: OffsetAndMetadata(at) if isinstance(at, int) else at
            for topic_partition, at in offsets.items()
        }
        await self._core.send_offsets(positions, group, timeout)

    async def commit_transaction(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109
        """Sends the records that are not sent yet and commits the transaction."""
        await self._core.commit_transaction(timeout)

    async def abort_transaction(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109
        """Drops the records that are not sent yet and aborts the transaction."""
        await self._core.abort_transaction(timeout)

    # -- private ------------------------------------------------------------------------------

    async def _finish(self, timeout_s: float) -> None:
        self._reject_sends()
        await self._core.finish(timeout_s)

    def _reject_sends(self) -> None:
        self._closed = True
        self._core.direct = False

    async def _send(  # noqa: PLR0913 - a record has this many fields
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Headers,
        partition: int | None,
        timestamp: int | None,
        on_delivery: OnDelivery | None,
    ) -> Delivery:
        """Sends a record that `send()` did not append at once, or explains why that failed."""
        appender = self._core.accumulator.topics.get(topic)
        delivery = None
        try:
            pairs = as_headers(headers) if headers else []
            if timestamp is not None:
                timestamp = as_timestamp(timestamp)
            if appender is not None and self._core.direct:
                delivery = appender.try_deliver(key, value, pairs, partition, timestamp, self._loop)
            if delivery is not None:
                await self._let_loop_run()
            else:
                record = SentRecord(topic, value, key, pairs, partition, timestamp)
                delivery = Delivery(await self._send_slowly(record), self._loop)
        except (TypeError, ValueError, AttributeError):
            explain_mistake(topic, headers)
            raise
        if on_delivery is not None:
            delivery.notify(on_delivery)
        return delivery

    async def _send_slowly(self, record: SentRecord) -> SendFuture:
        """Sends a record that is not simply appended to an open batch."""
        if self._closed:
            raise ClosedError("the producer is closed")
        check_topic(record.topic)
        if self._core.transaction is not None:
            self._core.transaction.check_open()
        record = self._records.intercept(record)
        try:
            sent = self._records.make(record)
            future = await self._appends.append_async(sent)
        except Exception as error:  # noqa: BLE001 - raised again if it is not about delivery
            return self._appends.rejected(record, error)
        self._records.sent(sent, future)
        if future.delta == 0:
            # A request has at most one batch of a partition: the second batch must not wait.
            queued = self._core.accumulator.queued(future.batch.partition)
            await self._let_loop_run(now=len(queued) > 1)
        return future

    async def _let_loop_run(self, *, now: bool = False) -> None:
        """Lets the event loop run if it has not for some time, so that other tasks continue.

        A loop of sends never suspends by itself. If the event loop ran after each batch, each batch
        would get its own request: with ten partitions a request had 1,500 records instead of 3,500.
        """
        if now or self._loop.time() >= self._runs_by_s:
            await asyncio.sleep(0)
            self._runs_by_s = self._loop.time() + SLICE_S
