"""The interface that scenarios are written against; one implementation per client library.

Scripts use plain values: a partition is a pair (topic, number), keys and values are bytes,
configuration goes by Kafka's own names. An adapter translates these and reports every error under
Kafka's name, so that observations of different libraries can be compared.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from barnabas.model.error_codes import ErrorCode

TopicPartition = tuple[str, int]
Headers = Sequence[tuple[str, bytes | None]]


class Rec(NamedTuple):
    """A record as a consumer returned it."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: int = -1


class Sent(NamedTuple):
    """The place of a delivered record."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None = None


class ToolResult(NamedTuple):
    code: int
    out: str
    err: str


Delivery = Callable[[float], Sent]
"""Waits up to the given seconds for a record's delivery; raises the record's error."""


class UnsupportedError(Exception):
    """The client library has no such feature; the text names the missing one."""


class Producer(abc.ABC):
    @abc.abstractmethod
    def send(
        self,
        topic: str,
        value: bytes | None = None,
        key: bytes | None = None,
        *,
        partition: int | None = None,
        headers: Headers = (),
        timestamp: int | None = None,
    ) -> Delivery: ...

    @abc.abstractmethod
    def flush(self, timeout: float = 30.0) -> None: ...

    @abc.abstractmethod
    def close(self) -> None: ...

    @abc.abstractmethod
    def partitions_for(self, topic: str) -> list[int]: ...

    @abc.abstractmethod
    def init_transactions(self) -> None: ...

    @abc.abstractmethod
    def begin(self) -> None: ...

    @abc.abstractmethod
    def commit(self) -> None: ...

    @abc.abstractmethod
    def abort(self) -> None: ...

    @abc.abstractmethod
    def send_offsets(self, offsets: Mapping[TopicPartition, int], consumer: Any) -> None: ...


class Consumer(abc.ABC):
    @abc.abstractmethod
    def subscribe(self, topics: list[str], events: list[Any] | None = None) -> None:
        """`events` receives ("assigned" or "revoked", partitions) for each rebalance."""

    @abc.abstractmethod
    def subscribe_pattern(self, pattern: str) -> None: ...

    @abc.abstractmethod
    def unsubscribe(self) -> None: ...

    @abc.abstractmethod
    def assign(self, partitions: list[TopicPartition]) -> None: ...

    @abc.abstractmethod
    def assignment(self) -> list[TopicPartition]: ...

    @abc.abstractmethod
    def poll(self, timeout: float, limit: int = 500) -> list[Rec]: ...

    @abc.abstractmethod
    def commit(self, offsets: Mapping[TopicPartition, int] | None = None) -> None: ...

    @abc.abstractmethod
    def committed(self, partition: TopicPartition) -> int | None: ...

    @abc.abstractmethod
    def position(self, partition: TopicPartition) -> int: ...

    @abc.abstractmethod
    def seek(self, partition: TopicPartition, offset: int) -> None: ...

    @abc.abstractmethod
    def seek_to_beginning(self, partition: TopicPartition) -> None: ...

    @abc.abstractmethod
    def seek_to_end(self, partition: TopicPartition) -> None: ...

    @abc.abstractmethod
    def pause(self, partition: TopicPartition) -> None: ...

    @abc.abstractmethod
    def resume(self, partition: TopicPartition) -> None: ...

    @abc.abstractmethod
    def beginning_offset(self, partition: TopicPartition) -> int: ...

    @abc.abstractmethod
    def end_offset(self, partition: TopicPartition) -> int: ...

    @abc.abstractmethod
    def offset_for_time(self, partition: TopicPartition, timestamp: int) -> int | None: ...

    @abc.abstractmethod
    def close(self) -> None: ...


class Admin(abc.ABC):
    @abc.abstractmethod
    def create_topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> None: ...

    @abc.abstractmethod
    def delete_topic(self, name: str) -> None: ...

    @abc.abstractmethod
    def create_partitions(self, name: str, total: int) -> None: ...

    @abc.abstractmethod
    def topics(self) -> set[str]: ...

    @abc.abstractmethod
    def partitions(self, topic: str) -> list[int]: ...

    @abc.abstractmethod
    def topic_config(self, topic: str, name: str) -> str | None: ...

    @abc.abstractmethod
    def alter_topic_config(self, topic: str, name: str, value: str) -> None: ...

    @abc.abstractmethod
    def delete_records(self, partition: TopicPartition, before: int) -> int:
        """Returns the new first offset."""

    @abc.abstractmethod
    def groups(self) -> set[str]: ...

    @abc.abstractmethod
    def group(self, group: str) -> tuple[str, int]:
        """State of a group and the number of its members."""

    @abc.abstractmethod
    def group_offsets(self, group: str) -> dict[TopicPartition, int]: ...

    @abc.abstractmethod
    def alter_group_offsets(self, group: str, offsets: Mapping[TopicPartition, int]) -> None: ...

    @abc.abstractmethod
    def delete_group(self, group: str) -> None: ...

    @abc.abstractmethod
    def brokers(self) -> int:
        """Number of brokers in the cluster."""

    @abc.abstractmethod
    def close(self) -> None: ...


class Client(abc.ABC):
    """A client library."""

    name: str

    @abc.abstractmethod
    def producer(self, servers: str, config: Mapping[str, Any]) -> Producer: ...

    @abc.abstractmethod
    def consumer(self, servers: str, config: Mapping[str, Any]) -> Consumer: ...

    @abc.abstractmethod
    def admin(self, servers: str) -> Admin: ...

    @abc.abstractmethod
    def error_name(self, error: BaseException) -> str:
        """Kafka's name of an error, or one of the words of `GENERAL_ERRORS`."""

    def tool(self, servers: str, name: str, *args: str, text: str = "") -> ToolResult:
        """Run one of Kafka's command-line tools by its script name."""
        raise UnsupportedError("the library has no command-line tools")

    def close(self) -> None:  # noqa: B027 - most adapters have nothing to end
        """End the threads and processes behind the adapter."""


GENERAL_ERRORS = frozenset({"TIMEOUT", "CLOSED", "COMMIT_FAILED", "NO_OFFSET", "CONFIG", "MISUSE"})


def protocol_error(code: int) -> str:
    """Kafka's name of an error code; time-outs of all kinds have one name."""
    name = ErrorCode.of(code).name
    return "TIMEOUT" if name == "REQUEST_TIMED_OUT" else name
