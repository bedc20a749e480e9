"""The producer for asyncio: the same core on the caller's own loop, no thread behind it."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

from barnabas.clients.core.exit_hooks import LoopClient
from barnabas.clients.producer._send_hot import SendFuture, TopicAppender
from barnabas.clients.producer.accumulator import NewRecord
from barnabas.clients.producer.core import ProducerCore
from barnabas.clients.producer.records import (
    OnDelivery,
    RecordMaker,
    SentRecord,
    explain_mistake,
    report_delivery,
)
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.errors import ClosedError
from barnabas.model.group_metadata import GroupMetadata, OffsetAndMetadata
from barnabas.model.ids import TopicPartition
from barnabas.model.record_metadata import RecordMetadata

Headers = Iterable[tuple[str, bytes | None]]
Delivery = asyncio.Future[RecordMetadata]
CLOSE_SECONDS = 30.0


class Producer:
    """Sends records to topics; made and used inside a running event loop.

    >>> async def main():
    ...     async with Producer(bootstrap_servers="localhost:9092") as producer:
    ...         delivery = await producer.send("orders", b"value", key=b"k")
    ...         metadata = await delivery

    `await send()` returns once the record is in its batch: it waits for room in the buffer, up to
    max.block.ms. The future it returns ends with the record's metadata, or with the error.
    """

    def __init__(self, config: Mapping[str, object] | None = None, **options: object) -> None:
        self._settings = ProducerSettings.parse({**(config or {}), **options})
        self._loop = asyncio.get_running_loop()
        self._core = ProducerCore(self._settings)
        self._records = RecordMaker(self._settings, self._core.chooser)
        self._topics = self._core.accumulator.topics
        self._closed = False
        self._exit = LoopClient(self._finish, self._core.accumulator.unanswered_records)

    async def send(  # noqa: PLR0913 - a record has this many fields
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        on_delivery: OnDelivery | None = None,
    ) -> Delivery:
        """Append a record to its batch; the future it returns is the delivery.

        `on_delivery(metadata, error)` is called once the record is stored or has failed; one of
        its arguments is None.
        """
        if self._closed:
            raise ClosedError("the producer is closed")
        if self._core.transaction is not None:
            self._core.transaction.check_open()
        try:
            record = SentRecord(topic, value, key, list(headers), partition, timestamp)
            record = self._records.intercept(record)
            try:
                future = await self._send_intercepted(record)
            except Exception as error:
                self._records.rejected(record, error)
                raise
            if on_delivery is not None:
                future.add_done_callback(partial(report_delivery, on_delivery))
            return self._delivery(future)
        except (TypeError, ValueError, AttributeError):
            explain_mistake(topic, headers)
            raise

    async def send_and_wait(self, topic: str, value: Any = None, **more: Any) -> RecordMetadata:
        """Send one record and wait until it is stored."""
        return await (await self.send(topic, value, **more))

    async def flush(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the API's word
        """Wait until every record sent so far has its answer; DeadlineError after `timeout`."""
        await self._core.flush(timeout)

    async def close(self, timeout: float | None = CLOSE_SECONDS) -> None:  # noqa: ASYNC109
        """Deliver the records sent so far, for up to `timeout` seconds, and end. Idempotent.

        An open transaction is aborted. A producer that is never closed is closed when
        `asyncio.run` shuts its loop down, or at exit.
        """
        if not self._closed:
            self._closed = True
            try:
                await self._core.close(timeout)
            finally:
                await self._exit.closed()

    async def partitions_for(self, topic: str) -> list[int]:
        """The partition numbers of a topic."""
        return list(range((await self._appender(topic)).count))

    async def ping(self, timeout: float = 10.0) -> None:  # noqa: ASYNC109
        """Ask a broker one question now; returns when it has answered.

        Raises at the first failure, with its reason: AuthenticationError for a refused login and
        for TLS on one side only, DeadlineError after `timeout` seconds, UnavailableError for an
        unknown host, a refused connection, or a server that is not a broker.

        >>> await producer.ping()  # doctest: +SKIP
        """
        await self._core.client.ping(timeout)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # -- transactions --------------------------------------------------------------------------

    async def init_transactions(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109
        """Once, first: ends what an earlier producer of this transactional.id left open."""
        await self._core.init_transactions(timeout)

    async def begin_transaction(self) -> None:
        await self._core.begin_transaction()

    async def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata,
        timeout: float = 60.0,  # noqa: ASYNC109
    ) -> None:
        """Commit a consumer's offsets as part of this transaction."""
        positions = {
            topic_partition: OffsetAndMetadata(at) if isinstance(at, int) else at
            for topic_partition, at in offsets.items()
        }
        await self._core.send_offsets(positions, group, timeout)

    async def commit_transaction(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109
        await self._core.commit_transaction(timeout)

    async def abort_transaction(self, timeout: float = 60.0) -> None:  # noqa: ASYNC109
        await self._core.abort_transaction(timeout)

    # -- inside --------------------------------------------------------------------------------

    async def _finish(self, timeout_s: float) -> None:
        self._closed = True
        await self._core.finish(timeout_s)

    def _delivery(self, future: SendFuture) -> Delivery:
        delivery: Delivery = self._loop.create_future()
        future.add_done_callback(lambda done: _settle(delivery, done))
        return delivery

    async def _send_intercepted(self, given: SentRecord) -> SendFuture:
        sent = self._records.make(given)
        topic = sent.topic
        appender = self._topics.get(topic) or await self._appender(topic)
        if sent.partition is not None and sent.partition >= appender.count:
            appender = await self._core.refreshed(topic)
        topic_partition = self._records.topic_partition_of(sent, appender)
        future = appender.try_send(
            sent.key, sent.value, sent.headers, topic_partition.partition, sent.timestamp
        )
        if future is None:
            future = await self._append_to_new(appender, topic_partition, sent)
        self._records.sent(sent, future)
        return future

    async def _append_to_new(
        self, appender: TopicAppender, topic_partition: TopicPartition, sent: SentRecord
    ) -> SendFuture:
        accumulator = self._core.accumulator
        size = accumulator.batch_bytes(sent.size)
        if not accumulator.memory.try_reserve(size):
            await self._wait_for_memory(size)
        record: NewRecord = (sent.key, sent.value, sent.headers, sent.timestamp)
        return accumulator.append_to_new(appender, topic_partition, record, size)

    async def _wait_for_memory(self, size: int) -> None:
        memory, granted = self._core.accumulator.memory, asyncio.Event()
        tell = granted.set
        memory.reserve_later(size, tell)
        self._core.sender.wake()
        limit_s = self._settings.max_block_ms / 1000
        try:
            async with asyncio.timeout(limit_s):
                await granted.wait()
        except TimeoutError:
            if memory.withdraw(tell):
                error = self._core.no_memory()
                raise error from error.__cause__
        except BaseException:
            if not memory.withdraw(tell):
                memory.release(size)
            raise

    async def _appender(self, topic: str) -> TopicAppender:
        appender = self._topics.get(topic)
        if appender is None:
            appender = await self._core.appender(topic)
        return appender


def _settle(delivery: Delivery, done: SendFuture) -> None:
    if delivery.done():
        return
    error = done.exception(0)
    if error is not None:
        delivery.set_exception(error)
        # Whoever only flushes has not asked for this error: no warning about it at exit.
        delivery.exception()
    else:
        delivery.set_result(done.result(0))
