"""The public class: a blocking consumer with streams that application threads iterate.

Its loop thread communicates with ZooKeeper and the brokers; the application's threads decode the
fetched records.
"""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from barnabas.clients.connector.core import ConnectorCore
from barnabas.clients.connector.rebalancer import ConsumerRebalanceListener
from barnabas.clients.connector.registry import TreeSource, connect_zookeeper
from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.stream import Decoder, MessageStream, StreamMaker, StreamSet
from barnabas.clients.connector.topic_count import (
    StaticTopicCount,
    TopicCount,
    TopicFilter,
    Whitelist,
    WildcardTopicCount,
    compiled,
)
from barnabas.clients.core.exit_hooks import close_at_exit, closed, interruptible, not_interruptible
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.model.config import merged
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import TopicPartition, topic_name_problem
from barnabas.model.records import OffsetAndMetadata
from barnabas.runtime.clock import Clock, SystemClock

if TYPE_CHECKING:
    from barnabas.model.config_keys.keywords import ConnectorKeywords


class MessageStreamsExistError(LocalError):
    """The connector already has streams; it creates them only once."""


class ConsumerConnector:
    """A consumer whose group assigns partitions with the help of ZooKeeper.

    Args:
        config: configuration keys in Kafka's spelling.
        enable_fetchers: with False the connector joins the group, owns its partitions and commits
            offsets, but fetches no records. For tools that observe or move a group.
        open_tree: opens the ZooKeeper session; the default uses `zookeeper.connect`.
        loop_thread: event loop to use instead of a separate thread.
        **options: configuration keys with underscores (`group_id="g"`).

    Raises:
        ConfigError: a key is unknown or a value is invalid.

    >>> connector = ConsumerConnector(  # doctest: +SKIP
    ...     {"zookeeper.connect": "localhost:2181", "group.id": "g"}
    ... )
    >>> [stream] = connector.create_message_streams({"orders": 1})["orders"]  # doctest: +SKIP
    >>> for record in stream:  # doctest: +SKIP
    ...     print(record.partition, record.offset, record.value)

    One thread at a time may iterate a stream; any thread may call the other methods.
    `shutdown()` or the end of a `with` block closes the connector.
    """

    def __init__(
        self,
        config: Mapping[str, object] | None = None,
        *,
        enable_fetchers: bool = True,
        open_tree: TreeSource = connect_zookeeper,
        loop_thread: LoopThread | None = None,
        **options: "Unpack[ConnectorKeywords]",
    ) -> None:
        self._settings = ConnectorSettings.parse(merged(config, options))
        self._enable_fetchers = enable_fetchers
        self._owns_loop = loop_thread is None
        self._loop = loop_thread or LoopThread("barnabas-connector")
        self._streams: StreamSet | None = None
        self._closed = False
        try:
            self._core = self._loop.call(self._open(open_tree, SystemClock()))
        except BaseException:
            self._close_loop()
            raise
        close_at_exit(self)
        interruptible(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or isinstance(error, SystemExit):
            self.shutdown()
        else:
            self._shut_down(processed_only=True)

    @property
    def consumer_id(self) -> str:
        """The consumer id in the group."""
        return self._core.consumer_id

    def owned_partitions(self) -> frozenset[TopicPartition]:
        """The partitions that this consumer owns."""
        return self._core.owned

    def create_message_streams(
        self,
        topic_counts: Mapping[str, int],
        key_decoder: Decoder | None = None,
        value_decoder: Decoder | None = None,
    ) -> dict[str, list[MessageStream]]:
        """Creates streams and joins the group; returns when this consumer owns its partitions.

        Args:
            topic_counts: number of streams by topic.
            key_decoder: converts the bytes of a key; None returns bytes.
            value_decoder: converts the bytes of a value; None returns bytes.

        Raises:
            MessageStreamsExistError: this connector already has streams.
        """
        _check_counts(topic_counts)
        maker = self._maker(key_decoder, value_decoder)
        streams = self._consume(
            StaticTopicCount(dict(topic_counts)), lambda: maker.for_topics(topic_counts)
        )
        return streams.by_topic

    def create_message_streams_by_filter(
        self,
        topic_filter: str | TopicFilter,
        streams: int = 1,
        key_decoder: Decoder | None = None,
        value_decoder: Decoder | None = None,
    ) -> list[MessageStream]:
        """Creates streams of all topics that a filter allows, also of topics created later.

        Args:
            topic_filter: `Whitelist` or `Blacklist` of a regular expression that matches whole
                names; a str is a whitelist.
            streams: number of streams.

        Raises:
            MessageStreamsExistError: this connector already has streams.
            ConfigError: the regular expression is invalid.
        """
        chosen = Whitelist(topic_filter) if isinstance(topic_filter, str) else topic_filter
        compiled(chosen.pattern)
        if streams < 1:
            raise ConfigError(f"{streams} streams: at least one is needed")
        count = WildcardTopicCount(chosen, streams, self._settings.exclude_internal)
        maker = self._maker(key_decoder, value_decoder)
        return self._consume(count, lambda: maker.for_filter(streams)).by_filter

    def commit_offsets(
        self,
        offsets: Mapping[TopicPartition, int | OffsetAndMetadata] | None = None,
        *,
        retry_on_failure: bool = True,
    ) -> None:
        """Commits the consumed offsets, or the given ones (the next offset to read)."""
        given = None
        if offsets is not None:
            given = {
                topic_partition: OffsetAndMetadata(offset) if isinstance(offset, int) else offset
                for topic_partition, offset in offsets.items()
            }
        self._loop.call(self._core.commit(given, retry_on_failure))

    def set_rebalance_listener(self, listener: ConsumerRebalanceListener) -> None:
        """Sets the listener; call it before creating streams."""
        if self._streams is not None:
            raise MessageStreamsExistError("set the rebalance listener before creating streams")
        self._core.set_listener(listener)

    def shutdown(self) -> None:
        """Commits if commits are automatic, leaves the group and ends the streams.

        A connector that is never shut down does the same when the program ends. After an uncaught
        exception, and after an exception that leaves the `with` block, the record that each stream
        returned last is not committed, so that it is read again.
        """
        self._shut_down()

    def start_exit(self, timeout_s: float, failed: bool) -> Callable[[], None]:
        """Leaves the group at the end of a program that did not call `shutdown()`."""
        self._closed = True
        leaving = self._loop.submit(self._core.shutdown(processed_only=failed))

        def wait() -> None:
            leaving.result(timeout_s)

        return wait

    def interrupt(self) -> None:
        """Ends the streams and commits returned records when the program receives SIGTERM."""
        self.shutdown()

    # -- internal ------------------------------------------------------------------------------

    def _shut_down(self, *, processed_only: bool = False) -> None:
        if self._closed:
            return
        self._closed = True
        closed(self)
        not_interruptible(self)
        try:
            self._loop.call(self._core.shutdown(processed_only=processed_only))
        finally:
            self._close_loop()

    async def _open(self, open_tree: TreeSource, clock: Clock) -> ConnectorCore:
        tree = await open_tree(self._settings)
        return ConnectorCore(tree, self._settings, clock, enable_fetchers=self._enable_fetchers)

    def _maker(self, key_decoder: Decoder | None, value_decoder: Decoder | None) -> StreamMaker:
        return StreamMaker(self._settings.streams, self._on_room, key_decoder, value_decoder)

    def _consume(self, topic_count: TopicCount, make: Callable[[], StreamSet]) -> StreamSet:
        if self._streams is not None:
            raise MessageStreamsExistError("a connector creates message streams once")
        self._streams = make()
        self._loop.call(self._core.consume(topic_count, self._streams))
        return self._streams

    def _on_room(self) -> None:
        """Wakes the fetchers after a stream has taken a chunk; called in its thread."""
        if not self._closed:
            self._loop.loop.call_soon_threadsafe(self._core.wake_fetchers)

    def _close_loop(self) -> None:
        if self._owns_loop:
            self._loop.close()


def _check_counts(topic_counts: Mapping[str, int]) -> None:
    if not topic_counts:
        raise ConfigError("at least one topic is needed")
    for topic, count in topic_counts.items():
        problem = topic_name_problem(topic)
        if problem is not None:
            raise ConfigError(problem)
        if count < 1:
            raise ConfigError(f"topic {topic!r}: {count} streams, at least one is needed")
