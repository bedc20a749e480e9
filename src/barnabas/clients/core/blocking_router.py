"""Routing without an event loop: metadata and connections for one thread.

The blocking twin of `KafkaClient`, as small as the simple consumer needs: any seed broker answers
metadata, leaders are asked directly, a failure that a fresh look may cure is retried until the
deadline.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from barnabas.clients.core.backoff import Backoff
from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.core.options import ClientOptions
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError, UnavailableError
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address
from barnabas.security.errors import AuthenticationError
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

T = TypeVar("T")
_log = logging.getLogger(__name__)
_TELL_S = 2.0


class BlockingRouter:
    """Owned by one thread at a time."""

    def __init__(self, options: ClientOptions) -> None:
        self.metadata = ClusterMetadata()
        self._options = options
        self._connections: dict[Address, BlockingConnection] = {}
        self._pause = threading.Event()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def retry(self, operation: Callable[[float], T], timeout_s: float, what: str) -> T:
        """Call `operation(seconds left)` until it succeeds, fails for good, or time is up."""
        started = time.monotonic()
        deadline, told = started + timeout_s, False
        backoff = Backoff(self._options.retry_backoff_ms, self._options.retry_backoff_max_ms)
        while True:
            try:
                return operation(max(deadline - time.monotonic(), 0.001))
            except BarnabasError as error:
                pause = backoff.next_s()
                if not error.retriable:
                    raise
                if time.monotonic() + pause >= deadline:
                    raise DeadlineError(f"{what}: {error}") from error
                if not told and _may_be_misspelt(error) and time.monotonic() > started + _TELL_S:
                    told = True
                    _log.warning("%s: %s; looking for it for up to %g s", what, error, timeout_s)
            # A wait on an event nobody sets: unlike a sleep it ends at once on Ctrl-C.
            self._pause.wait(pause)

    def leader(self, topic_partition: TopicPartition) -> tuple[BlockingConnection, int]:
        """A connection to the leader, and its epoch; asks the cluster when not known."""
        found = self.metadata.leader_of(topic_partition)
        if found is None:
            as_topic_partition(topic_partition)  # a number as text would never be found
            self.refresh(topic_partition.topic)
            found = self.metadata.leader_of(topic_partition)
        if found is None:
            raise BrokerError(*self._why_no_leader(topic_partition))
        node, epoch = found
        return self.connection(node.address), epoch

    def coordinator(self, group: str) -> BlockingConnection:
        """A connection to the coordinator of a group."""
        request = FindCoordinatorRequest(key=group, coordinator_keys=[group])
        response = self.any_connection().send(request)
        found = response.coordinators[0] if response.coordinators else response
        if found.error_code:
            raise BrokerError(ErrorCode.of(found.error_code), found.error_message)
        return self.connection(Address(found.host, found.port))

    def refresh(self, topic: str) -> None:
        """Fetch the metadata of one topic; it is never created by asking."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
        )
        connection = self.any_connection()
        try:
            self.metadata.apply(connection.send(request))
        except UnavailableError:
            self._check_login(connection.address)
            # The connection may have died with its broker; the next one tried is another.
            self.metadata.apply(self.any_connection().send(request))

    def _check_login(self, address: Address) -> None:
        """Until there was an answer, a lost connection may mean that a login is wanted."""
        if self.metadata.brokers or self._options.connection.login is not None:
            return
        from barnabas.clients.core.sasl_probe import login_wanted_blocking

        wanted = login_wanted_blocking(address, self._options.connection)
        if wanted is not None:
            raise wanted

    def forget_leader(self, topic_partition: TopicPartition) -> None:
        """After an answer that says the leader moved: look it up before the next try."""
        self.metadata.forget([topic_partition.topic])

    def connection(self, address: Address) -> BlockingConnection:
        connection = self._connections.get(address)
        if connection is None or connection.closed:
            connection = BlockingConnection.open(address, self._options.connection)
            self._connections[address] = connection
        return connection

    def any_connection(self) -> BlockingConnection:
        for connection in self._connections.values():
            if not connection.closed:
                return connection
        causes: list[str] = []
        for address in self._candidates():
            try:
                return self.connection(address)
            except AuthenticationError:
                raise  # the same at every broker: trying others would only hide it
            except BarnabasError as error:
                causes.append(str(error))
        raise UnavailableError(f"no broker can be reached: {'; '.join(causes)}")

    def _candidates(self) -> list[Address]:
        known = [node.address for node in self.metadata.brokers.values()]
        return list(dict.fromkeys([*self._options.bootstrap, *known]))

    def _why_no_leader(self, topic_partition: TopicPartition) -> tuple[ErrorCode, Any]:
        topic = self.metadata.topics.get(topic_partition.topic)
        if topic is None or not topic.partitions:
            code = topic.error if topic and topic.error else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            return code, f"topic {topic_partition.topic!r}: {code.explanation}"
        if topic_partition.partition not in topic.partitions:
            count = len(topic.partitions)
            return (
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                f"topic {topic_partition.topic!r} has {count} partitions, "
                f"no {topic_partition.partition}",
            )
        return ErrorCode.LEADER_NOT_AVAILABLE, f"{topic_partition} has no leader"


def _may_be_misspelt(error: BarnabasError) -> bool:
    """A topic may be there in a moment, or never: the caller who waits should know."""
    return isinstance(error, BrokerError) and error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
