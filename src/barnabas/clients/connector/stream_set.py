"""The streams of a connector by what they read: one queue and one stream per consumer thread.

With topics by name each topic has streams of its own: two of one and three of another make five.
With a filter the same streams read every topic that it allows.
"""

from collections.abc import Callable, Mapping

from barnabas.clients.connector.chunks import ChunkQueue
from barnabas.clients.connector.settings import StreamSettings
from barnabas.clients.connector.stream import Decoder, MessageStream
from barnabas.model.errors import BarnabasError


class StreamSet:
    """Made once per connector."""

    def __init__(
        self, by_topic: Mapping[str, list[MessageStream]], by_filter: list[MessageStream]
    ) -> None:
        self.by_topic = dict(by_topic)
        self.by_filter = by_filter

    @property
    def all(self) -> list[MessageStream]:
        return [*self.by_filter, *(s for streams in self.by_topic.values() for s in streams)]

    def stream_of(self, topic: str, thread: int) -> MessageStream:
        """The stream of a consumer thread."""
        return (self.by_topic.get(topic) or self.by_filter)[thread]

    def clear(self) -> None:
        """Drop what was fetched and not yet read: first the queues, then what is being read."""
        for stream in self.all:
            stream.queue.clear()
            stream.clear()

    def fail(self, error: BarnabasError) -> None:
        for stream in self.all:
            stream.queue.fail(error)

    def recover(self) -> None:
        for stream in self.all:
            stream.queue.recover()

    def close(self) -> None:
        """End every stream."""
        for stream in self.all:
            stream.queue.close()


class StreamMaker:
    """Makes streams that decode alike."""

    def __init__(
        self,
        settings: StreamSettings,
        on_room: Callable[[], None],
        key_decoder: Decoder | None = None,
        value_decoder: Decoder | None = None,
    ) -> None:
        self._settings = settings
        self._on_room = on_room
        self._key_decoder = key_decoder
        self._value_decoder = value_decoder

    def for_topics(self, topic_counts: Mapping[str, int]) -> StreamSet:
        return StreamSet({topic: self._make(n) for topic, n in topic_counts.items()}, [])

    def for_filter(self, streams: int) -> StreamSet:
        return StreamSet({}, self._make(streams))

    def _make(self, count: int) -> list[MessageStream]:
        return [self._one() for _ in range(count)]

    def _one(self) -> MessageStream:
        queue = ChunkQueue(self._settings.max_chunks, self._on_room)
        return MessageStream(queue, self._settings, self._key_decoder, self._value_decoder)
