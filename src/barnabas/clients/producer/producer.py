"""The blocking producer: `send()` from any thread, delivery by a loop thread behind it.

`send()` appends in the caller's thread; nothing per record crosses to the loop. Thread-safe. Not to
be used in a process forked after it was made: make one there.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

from barnabas.clients.core.exit_hooks import (
    close_at_exit,
    closed,
    park_daemon_thread,
    report_undelivered,
)
from barnabas.clients.core.loop_thread import LoopThread
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

Headers = Iterable[tuple[str, bytes | None]]
CLOSE_SECONDS = 30.0


class Producer:
    """Sends records to topics.

    >>> with Producer({"bootstrap.servers": "localhost:9092"}) as producer:    # doctest: +SKIP
    ...     metadata = producer.send("orders", b"value", key=b"k").result(10)
    ...     metadata.partition, metadata.offset
    (0, 0)

    Configuration goes by Kafka's names, or as snake_case keywords. Idempotence is on by default.
    A record that cannot be delivered fails its future, never silently. When the buffer is full
    `send()` waits up to max.block.ms.
    """

    def __init__(self, config: Mapping[str, object] | None = None, **options: object) -> None:
        settings = ProducerSettings.parse({**(config or {}), **options})
        self._settings = settings
        self._thread = LoopThread("barnabas-producer")
        self._core = self._thread.call(_make_core(settings, self._thread))
        self._records = RecordMaker(settings, self._core.chooser)
        self._topics = self._core.accumulator.topics
        self._closed = False
        self._exiting = False
        close_at_exit(self)

    def send(  # noqa: PLR0913 - a record has this many fields
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: Headers = (),
        partition: int | None = None,
        timestamp: int | None = None,
        on_delivery: OnDelivery | None = None,
    ) -> SendFuture:
        """Append a record to its batch and return its future.

        The partition is the given one, else by the key's hash, else one that changes with each
        batch. `on_delivery(metadata, error)` is called once the record is stored or has failed, on
        the producer's own thread: keep it short. One of its arguments is None.
        """
        appender = self._topics.get(topic)
        future = None
        try:
            if appender is not None and self._core.direct:
                future = appender.try_send(key, value, headers, partition, timestamp)
            if future is None:
                future = self._send_slowly(topic, value, key, headers, (partition, timestamp))
        except (TypeError, ValueError, AttributeError):
            explain_mistake(topic, headers)
            raise
        if on_delivery is not None:
            future.add_done_callback(partial(report_delivery, on_delivery))
        return future

    @property
    def core(self) -> ProducerCore:
        """The internal parts of this producer, for other modules of this package."""
        return self._core

    def flush(self, timeout: float | None = None) -> None:
        """Wait until every record sent so far has its answer; DeadlineError after `timeout`."""
        self._thread.call(self._core.flush(timeout))

    def close(self, timeout: float | None = CLOSE_SECONDS) -> None:
        """Deliver the records sent so far, for up to `timeout` seconds, and end. Idempotent.

        An open transaction is aborted. A producer that is never closed is closed at exit.
        """
        if self._closed:
            return
        self._refuse_sends()
        try:
            self._thread.call(self._core.close(timeout))
        finally:
            self._thread.close()

    def start_exit(self, timeout_s: float, failed: bool) -> Callable[[], None]:
        """The program ends: begin to deliver; the returned function waits for the end of it."""
        self._exiting = True
        self._refuse_sends()
        future = self._thread.submit(self._core.finish(timeout_s))

        def wait() -> None:
            try:
                future.result(timeout_s + 1.0)
            except BaseException as error:  # also a second Ctrl-C
                cause = str(error) or type(error).__name__
                report_undelivered(self._core.accumulator.unanswered_records(), cause)
                if not isinstance(error, Exception):
                    raise

        return wait

    def partitions_for(self, topic: str) -> list[int]:
        """The partition numbers of a topic."""
        return list(range(self._core.topic_appender(topic).count))

    def ping(self, timeout: float = 10.0) -> None:
        """Ask a broker one question now; returns when it has answered.

        Raises at the first failure, with its reason: AuthenticationError for a refused login and
        for TLS on one side only, DeadlineError after `timeout` seconds, UnavailableError for an
        unknown host, a refused connection, or a server that is not a broker.

        >>> producer.ping()  # doctest: +SKIP
        """
        self._thread.call(self._core.client.ping(timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- transactions --------------------------------------------------------------------------

    def init_transactions(self, timeout: float = 60.0) -> None:
        """Once, first: ends what an earlier producer of this transactional.id left open."""
        self._thread.call(self._core.init_transactions(timeout))

    def begin_transaction(self) -> None:
        self._thread.call(self._core.begin_transaction())

    def send_offsets_to_transaction(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata,
        timeout: float = 60.0,
    ) -> None:
        """Commit a consumer's offsets as part of this transaction."""
        positions = {
            topic_partition: OffsetAndMetadata(value) if isinstance(value, int) else value
            for topic_partition, value in offsets.items()
        }
        self._thread.call(self._core.send_offsets(positions, group, timeout))

    def commit_transaction(self, timeout: float = 60.0) -> None:
        self._thread.call(self._core.commit_transaction(timeout))

    def abort_transaction(self, timeout: float = 60.0) -> None:
        self._thread.call(self._core.abort_transaction(timeout))

    # -- inside --------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if not self._closed:
            return
        if self._exiting:
            park_daemon_thread()
        raise ClosedError("the producer is closed")

    def _refuse_sends(self) -> None:
        closed(self)
        self._closed = True
        self._core.direct = False

    def _send_slowly(
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Headers,
        where: tuple[int | None, int | None],
    ) -> SendFuture:
        """Everything that is not an append to an open batch."""
        self._check_open()
        if self._core.transaction is not None:
            self._core.transaction.check_open()
        record = SentRecord(topic, value, key, list(headers), *where)
        record = self._records.intercept(record)
        try:
            return self._send_intercepted(record)
        except Exception as error:
            self._records.rejected(record, error)
            raise

    def _send_intercepted(self, given: SentRecord) -> SendFuture:
        sent = self._records.make(given)
        topic = sent.topic
        appender = self._core.topic_appender(topic)
        if sent.partition is not None and sent.partition >= appender.count:
            appender = self._thread.call(self._core.refreshed(topic))
        topic_partition = self._records.topic_partition_of(sent, appender)
        future = appender.try_send(
            sent.key, sent.value, sent.headers, topic_partition.partition, sent.timestamp
        )
        if future is None:
            future = self._append_to_new(appender, topic_partition, sent)
        self._records.sent(sent, future)
        return future

    def _append_to_new(
        self, appender: TopicAppender, topic_partition: TopicPartition, sent: SentRecord
    ) -> SendFuture:
        accumulator = self._core.accumulator
        size = accumulator.batch_bytes(sent.size)
        if not accumulator.memory.try_reserve(size):
            self._wait_for_memory(size)
        record: NewRecord = (sent.key, sent.value, sent.headers, sent.timestamp)
        return accumulator.append_to_new(appender, topic_partition, record, size)

    def _wait_for_memory(self, size: int) -> None:
        granted = threading.Event()
        grant = granted.set  # one object: a waiter is known by its callback
        memory = self._core.accumulator.memory
        memory.reserve_later(size, grant)
        self._core.wake()
        limit = self._settings.max_block_ms / 1000
        try:
            if granted.wait(limit):
                return
        except BaseException:
            if not memory.withdraw(grant):
                memory.release(size)
            raise
        if memory.withdraw(grant):
            raise self._core.no_memory()


async def _make_core(settings: ProducerSettings, thread: LoopThread) -> ProducerCore:
    return ProducerCore(settings, thread)
