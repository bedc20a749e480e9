"""Routes requests of one thread to brokers, without an event loop.

The blocking counterpart of `KafkaClient` for the simple consumer: it fetches metadata from any
broker, connects to leaders and coordinators, and retries transient errors until a deadline.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from barnabas.clients.core.backoff import Backoff, Retries
from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.core.loop_thread import USED_AFTER_FORK
from barnabas.clients.core.options import ClientOptions
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import (
    BarnabasError,
    BrokerError,
    LocalError,
    UnavailableError,
)
from barnabas.model.ids import TopicPartition, as_topic_partition
from barnabas.net.blocking_client import BlockingConnection
from barnabas.net.connection_options import Address
from barnabas.security.mechanism import AuthenticationError
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic

T = TypeVar("T")
logger = logging.getLogger(__name__)
WARN_AFTER_S = 2.0
"""A topic that is still missing after this time is logged: its name may be misspelt."""


class BlockingRouter:
    """Finds leaders and coordinators, and retries requests, without an event loop.

    Owned by one thread at a time.
    """

    def __init__(self, options: ClientOptions) -> None:
        self.metadata = ClusterMetadata()
        self._options = options
        self._connections: dict[Address, BlockingConnection] = {}
        self._pause = threading.Event()
        self._pid = os.getpid()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def retry(self, operation: Callable[[float], T], timeout_s: float, what: str) -> T:
        """Calls `operation(seconds_left)` until it succeeds.

        Raises:
            BarnabasError: `operation` raised it, and it is not transient.
            DeadlineError: `timeout_s` seconds have passed; its cause is the last error.
        """
        started, warned = time.monotonic(), False
        backoff = Backoff(self._options.retry_backoff_ms, self._options.retry_backoff_max_ms)
        retries = Retries(what, started + timeout_s, backoff)
        while True:
            try:
                return operation(max(retries.deadline_s - time.monotonic(), 0.001))
            except BarnabasError as error:
                pause = retries.pause_s(error, time.monotonic())
                late = time.monotonic() > started + WARN_AFTER_S
                if late and not warned and _is_unknown_topic(error):
                    warned = True
                    logger.warning("%s: %s; retrying for up to %g s", what, error, timeout_s)
            # A wait on an event that is never set: unlike a sleep, Ctrl-C ends it at once.
            self._pause.wait(pause)

    def leader(self, topic_partition: TopicPartition) -> tuple[BlockingConnection, int]:
        """Returns a connection to the leader, and its epoch; fetches metadata if necessary."""
        found = self.metadata.leader_of(topic_partition)
        if found is None:
            as_topic_partition(topic_partition)  # raises for a partition number that is text
            self.refresh(topic_partition.topic)
            found = self.metadata.leader_of(topic_partition)
        if found is None:
            raise self.metadata.no_leader_error(topic_partition)
        node, epoch = found
        return self.connection(node.address), epoch

    def coordinator(self, group: str) -> BlockingConnection:
        """Returns a connection to the coordinator of a group."""
        request = FindCoordinatorRequest(key=group, coordinator_keys=[group])
        response = self.any_connection().send(request)
        found = response.coordinators[0] if response.coordinators else response
        if found.error_code:
            raise BrokerError(ErrorCode.of(found.error_code), found.error_message)
        return self.connection(Address(found.host, found.port))

    def refresh(self, topic: str) -> None:
        """Fetches the metadata of one topic; the request does not create the topic."""
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
        )
        connection = self.any_connection()
        try:
            self.metadata.apply(connection.send(request))
        except UnavailableError:
            self._check_login(connection.address)
            # The broker may have stopped; the next connection is to another one.
            self.metadata.apply(self.any_connection().send(request))

    def _check_login(self, address: Address) -> None:
        """Raises AuthenticationError if the broker closed the connection for lack of a login."""
        if self.metadata.brokers or self._options.connection.login is not None:
            return
        # Start-up time: only needed after a failure.
        from barnabas.clients.core.security import login_wanted_blocking

        wanted = login_wanted_blocking(address, self._options.connection)
        if wanted is not None:
            raise wanted

    def forget_leader(self, topic_partition: TopicPartition) -> None:
        """Drops the metadata of the topic, after an error that says the leader has moved."""
        self.metadata.forget([topic_partition.topic])

    def connection(self, address: Address) -> BlockingConnection:
        """Returns the open connection to a broker; opens one if there is none."""
        self._check_process()
        connection = self._connections.get(address)
        if connection is None or connection.closed:
            connection = BlockingConnection.open(address, self._options.connection)
            self._connections[address] = connection
        return connection

    def _check_process(self) -> None:
        """Raises LocalError in a forked child: parent and child would share the connections."""
        if self._pid != os.getpid():
            raise LocalError(USED_AFTER_FORK)

    def any_connection(self) -> BlockingConnection:
        """Returns an open connection, or one to the first broker that accepts it."""
        self._check_process()
        for connection in self._connections.values():
            if not connection.closed:
                return connection
        causes: list[str] = []
        for address in self._candidates():
            try:
                return self.connection(address)
            except AuthenticationError:
                raise  # other brokers would reject the login as well
            except BarnabasError as error:
                causes.append(str(error))
        raise UnavailableError(f"no broker can be reached: {'; '.join(causes)}")

    def _candidates(self) -> list[Address]:
        known = [node.address for node in self.metadata.brokers.values()]
        return list(dict.fromkeys([*self._options.bootstrap, *known]))


def _is_unknown_topic(error: BarnabasError) -> bool:
    return isinstance(error, BrokerError) and error.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def bootstrap_problems(values: Mapping[str, object]) -> dict[str, str]:
    """Returns the problem of each bootstrap address; empty if one of them is a broker."""
    options = ClientOptions.from_values(values)
    problems = {}
    for address in options.bootstrap:
        try:
            BlockingConnection.open(address, options.connection).close()
        except BarnabasError as error:
            problems[str(address)] = str(error)
        else:
            return {}
    return problems
