"""Sends ready batches to partition leaders and applies the responses.

The decisions are in `batch_results`, `identity` and `accumulator`; this module does the IO. It runs
in callbacks of the loop and not in a task, to keep the latency low: one turn of the loop takes a
batch from the wake-up to the socket, and one takes the response from the socket to the future.
"""

import asyncio
import math
from collections.abc import Hashable, Iterable
from functools import partial

from barnabas.clients.core.background import Background
from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.cluster_metadata import Node
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.batch import ProducerBatch, build, build_sealed, close, seal
from barnabas.clients.producer.batch_results import LEADER_MOVED, BatchResults, SendGate
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.clients.producer.requests import ProduceRequests
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.clients.producer.topics import TopicTracker
from barnabas.clients.producer.unread_failures import UnreadFailures
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.net.client import ClientConnection
from barnabas.runtime.clock import Clock
from barnabas.runtime.lazy_timer import LazyTimer
from barnabas.security.mechanism import AuthenticationError
from barnabas.wire._produce_hot import AppendedBatch
from barnabas.wire.message import Message
from barnabas.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from barnabas.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)

PRODUCER_ID = "producer id"
# The value of the Java client for a producer without transactions.
NO_TRANSACTION_TIMEOUT = 2**31 - 1
IDLE_CHECK_MS = 1000
MIN_REFRESH_MS = 100
"""Lower limit of the refresh interval, for a short metadata.max.age.ms."""


class SlowNodes:
    """Finds brokers that accepted no batch for partitioner.availability.timeout.ms."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._since: dict[int, int] = {}

    def ready_for(self, node_id: int, now: int) -> None:
        """Records that a batch for this broker is ready."""
        self._since.setdefault(node_id, now)

    def sent_to(self, node_id: int) -> None:
        """Records that a batch was sent to this broker."""
        self._since.pop(node_id, None)

    def at(self, now: int) -> frozenset[int]:
        """Returns the brokers that records without a key should avoid; none if the timeout is 0."""
        limit = self._timeout_ms
        if not limit:
            return frozenset()
        return frozenset(node for node, since in self._since.items() if now - since > limit)


class Sender:
    """Sends ready batches to partition leaders and applies the responses.

    Owned by the client's event loop; `wake` may be called from any thread.
    """

    def __init__(
        self,
        settings: ProducerSettings,
        client: KafkaClient,
        accumulator: Accumulator,
        identity: ProducerIdentity,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._client = client
        self._accumulator = accumulator
        self._identity = identity
        self._meters = accumulator.meters
        self.requests = ProduceRequests(settings, client.metadata)
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self.failures = UnreadFailures(self._loop)
        self._results = BatchResults(settings, accumulator, identity, clock, self.failures)
        self._timer = LazyTimer(self._loop, self._on_timer)
        self._runs_at_ms = math.inf  # when the timer fires, at the latest; in the clock's time
        self._scheduled: asyncio.Handle | None = None
        self._closed = False
        pause_s = settings.client.retry_backoff_ms / 1000
        self._background = Background(pause_s, self.run_soon, self._on_background_failure)
        self.topics: TopicTracker | None = None
        self._slow_nodes = SlowNodes(settings.availability_timeout_ms)
        self._in_flight: dict[int, int] = {}
        self._throttled: dict[int, float] = {}  # node id to the end of its throttling

    @property
    def gate(self) -> SendGate | None:
        return self._results.gate

    @gate.setter
    def gate(self, gate: SendGate) -> None:
        self._results.gate = gate

    def start(self) -> None:
        """Schedules the first run."""
        self.run_soon()

    def run_soon(self) -> None:
        """Schedules one run in the next turn of the loop, however often it is called."""
        if self._scheduled is None:
            self._scheduled = self._loop.call_soon(self.wake)

    def wake(self) -> None:
        """Sends the ready batches now, and sets the timer for the next run. Call it on the loop."""
        if self._scheduled is not None:
            self._scheduled.cancel()
            self._scheduled = None
        if not self._closed:
            now = self._clock.monotonic_ms()
            wait_ms = self._step(now)
            self._timer.set(self._loop.time() + wait_ms / 1000)
            self._runs_at_ms = min(self._runs_at_ms, now + wait_ms)

    def runs_by(self, due_ms: int) -> bool:
        """Whether the timer fires by this monotonic time. Thread-safe.

        If it does, the run that follows sees every batch that was queued before this call.
        """
        return self._runs_at_ms <= due_ms

    def _on_timer(self) -> None:
        self._runs_at_ms = math.inf  # first: a batch that is queued from now on may be missed
        self.wake()

    def cause(self, batches: Iterable[ProducerBatch] = ()) -> BarnabasError | None:
        """Returns the last error of these batches, or of the connection; None if there is none."""
        candidates = batches or self._accumulator.incomplete()
        found = (batch.cause for batch in candidates if batch.cause is not None)
        return next(found, self._results.last_failure)

    def fail_closed(self, batch: ProducerBatch) -> None:
        """Fails a batch without a response because the producer is closed."""
        self._results.fail_closed(batch)

    async def close(self) -> None:
        """Stops sending and cancels the background tasks; does not complete any batch."""
        self._closed = True
        self._timer.cancel()
        await self._background.close()

    # -- one run -------------------------------------------------------------------------------

    def _step(self, now: int) -> int:
        """Sends the ready batches; returns the milliseconds until the next run."""
        next_ms = now + IDLE_CHECK_MS
        has_id = self._identity.ready
        if not has_id and self.gate is None:
            self._background.run(PRODUCER_ID, self._fetch_producer_id)
        by_node: dict[int, list[TopicPartition]] = {}
        for batch in () if has_id and self._send_only_batch(now) else self._accumulator.waiting():
            if self._results.expired(batch, now):
                continue
            ready_ms = self._accumulator.ready_at_ms(batch)
            if ready_ms > now:
                next_ms = min(next_ms, ready_ms)
            elif has_id and self._may_send(batch.partition):
                leader = self._leader(batch.partition)
                if leader is not None:
                    by_node.setdefault(leader.id, []).append(batch.partition)
        for node_id, topic_partitions in by_node.items():
            self._send_to(node_id, topic_partitions, now)
        if self.topics is not None:  # after the requests: the brokers work at the same time
            next_ms = min(next_ms, self._refresh_topics(self.topics, now))
        return max(next_ms - now, 1)

    def _send_only_batch(self, now: int) -> bool:
        """Sends the batch of a producer that has one to send and none in flight.

        The usual case of a synchronous send. Returns False, without effect, in every other case.
        """
        batch = self._accumulator.only_batch()
        if batch is None or now >= batch.created_ms + self._settings.delivery_timeout_ms:
            return False
        route = self.requests.route(batch.partition)
        if route is None or self._throttled or self._in_flight.get(route.node_id):
            return False
        if not self._identity.is_idle(batch.partition):
            return False
        self._accumulator.drain(batch.partition)
        close(batch)
        self._identity.sending(batch)
        batch.attempts = 1
        self._in_flight[route.node_id] = 1
        payload, now_s = build_sealed(batch), self._loop.time()
        on_response = partial(self._on_single_response, route.node_id, batch, now_s)
        limit_s = self._settings.request_timeout_ms / 1000
        route.connection.submit_batch(route.form, payload, on_response, now_s, limit_s)
        # After the write: the broker works at the same time.
        self._slow_nodes.sent_to(route.node_id)
        self._meters.sending([batch], now)
        return True

    def _refresh_topics(self, topics: TopicTracker, now: int) -> int:
        """Refreshes old metadata; returns the time of the next check."""
        topics.sync(self._slow_nodes.at(now))
        if not self._accumulator.topics:
            return now + IDLE_CHECK_MS
        left_ms = self._settings.client.metadata_max_age_ms - self._client.metadata_age_ms
        if left_ms <= 0 or self._client.take_lost():
            topics.drop_idle(now)
            self._background.run("metadata", self._client.refresh)
        return now + int(max(left_ms, MIN_REFRESH_MS))

    def fail_removed(self, topic_partition: TopicPartition) -> None:
        """Fails the batches of a partition that the recreated topic does not have."""
        error = self._client.metadata.no_leader_error(topic_partition)
        for batch in self._accumulator.queued(topic_partition):
            self._results.fail_unsent(batch, error)

    def _may_send(self, topic_partition: TopicPartition) -> bool:
        if not self._identity.may_send(topic_partition):
            return False
        gate = self._results.gate
        return gate is None or gate.may_send(topic_partition)

    def _leader(self, topic_partition: TopicPartition) -> Node | None:
        found = self._client.metadata.leader_of(topic_partition)
        if found is None:
            self._background.run("metadata", partial(self._client.refresh, {topic_partition.topic}))
            return None
        return found[0]

    def _send_to(self, node_id: int, topic_partitions: list[TopicPartition], now: int) -> None:
        self._slow_nodes.ready_for(node_id, now)
        if node_id in self._throttled:
            return
        connection = self._client.connected(node_id)
        if connection is None:
            self._background.run(f"connection {node_id}", partial(self._connect, node_id))
            return
        while topic_partitions and self._in_flight.get(node_id, 0) < self._settings.max_in_flight:
            batches = self._drain_batches(topic_partitions)
            if batches:
                self._slow_nodes.sent_to(node_id)
                self._send(node_id, connection, batches)
            topic_partitions = [
                topic_partition
                for topic_partition in topic_partitions
                if self._has_ready_batch(topic_partition, now)
            ]

    def _has_ready_batch(self, topic_partition: TopicPartition, now: int) -> bool:
        batch = self._accumulator.oldest(topic_partition)
        if batch is None or self._accumulator.ready_at_ms(batch) > now:
            return False
        return self._identity.ready and self._may_send(topic_partition)

    def _drain_batches(self, topic_partitions: list[TopicPartition]) -> list[ProducerBatch]:
        batches: list[ProducerBatch] = []
        size = 0
        for topic_partition in topic_partitions:
            batch = self._accumulator.drain(topic_partition)
            if batch.payload is None:
                build(batch, self._results.builder)
            assert batch.payload is not None
            if batches and size + len(batch.payload) > self._settings.max_request_size:
                self._accumulator.requeue(batch)
                break
            size += len(batch.payload)
            self._identity.sending(batch)
            seal(batch)
            batches.append(batch)
        return batches

    def _send(
        self, node_id: int, connection: ClientConnection, batches: list[ProducerBatch]
    ) -> None:
        gate = self._results.gate
        last = None if gate is None else gate.last_version(ProduceRequest)
        request, version = self.requests.make(batches, connection, last)
        for batch in batches:
            batch.attempts += 1
        try:
            if self._settings.acks == 0:
                connection.post(request, version=version)
                self._meters.sending(batches, self._clock.monotonic_ms())
                for batch in batches:
                    self._results.assume_stored(batch)
                return
            self._in_flight[node_id] = self._in_flight.get(node_id, 0) + 1
            connection.submit_with_callback(
                request,
                partial(self._on_response, node_id, batches, self._loop.time()),
                version=version,
                timeout_s=self._settings.request_timeout_ms / 1000,
            )
            # After the write: the broker works at the same time.
            self._meters.sending(batches, self._clock.monotonic_ms())
            if len(batches) == 1 and self._in_flight[node_id] == 1:
                self.requests.add_route(batches[0].partition, node_id)
        except BarnabasError as error:
            self._on_response(node_id, batches, 0.0, None, error)

    # -- responses -----------------------------------------------------------------------------

    def _on_response(
        self,
        node_id: int,
        batches: list[ProducerBatch],
        sent_s: float,
        response: Message | None,
        error: BarnabasError | None,
    ) -> None:
        self._in_flight[node_id] = max(self._in_flight.get(node_id, 0) - 1, 0)
        if isinstance(response, ProduceResponse):
            if response.throttle_time_ms > 0:
                self._throttle(node_id, response.throttle_time_ms)
            took_s = self._loop.time() - sent_s
            self._apply_responses(response, batches)
            # After the results: the waiting thread needs some time until it runs.
            self._meters.on_response(took_s, response.throttle_time_ms)
        else:
            self._on_lost_request(batches, error or UnavailableError("no response"))
        if self._accumulator.has_waiting:
            self.run_soon()

    def _on_single_response(
        self,
        node_id: int,
        batch: ProducerBatch,
        sent_s: float,
        response: Message | AppendedBatch | None,
        error: BarnabasError | None,
    ) -> None:
        if not isinstance(response, AppendedBatch):
            self._on_response(node_id, [batch], sent_s, response, error)
            return
        self._in_flight[node_id] -= 1
        if response.throttle_time_ms > 0:
            self._throttle(node_id, response.throttle_time_ms)
        took_s = self._loop.time() - sent_s
        self._results.stored(batch, response.base_offset, response.log_append_time_ms)
        self._meters.on_response(took_s, response.throttle_time_ms)
        if self._accumulator.has_waiting:
            self.run_soon()

    def _throttle(self, node_id: int, throttle_ms: int) -> None:
        """Pauses sending: a broker that throttles a client does not read its requests (KIP-219)."""
        until_s = self._loop.time() + throttle_ms / 1000
        self._throttled[node_id] = max(until_s, self._throttled.get(node_id, 0.0))
        self._loop.call_at(until_s, self._end_throttle, node_id)

    def _end_throttle(self, node_id: int) -> None:
        if self._loop.time() >= self._throttled.get(node_id, 0.0):
            self._throttled.pop(node_id, None)
            self.run_soon()

    def _apply_responses(self, response: ProduceResponse, batches: list[ProducerBatch]) -> None:
        names = self._client.metadata.topic_names
        if len(batches) == 1 and len(response.responses) == 1:
            topic = response.responses[0]
            (name, index), found = batches[0].partition, topic.partition_responses
            own_topic = (topic.name or names.get(topic.topic_id)) == name
            if own_topic and len(found) == 1 and found[0].index == index:
                self._apply_partition_response(batches[0], found[0])
                return
        responses = {
            TopicPartition(topic.name or names.get(topic.topic_id, ""), item.index): item
            for topic in response.responses
            for item in topic.partition_responses
        }
        for batch in batches:
            found_response = responses.get(batch.partition)
            if found_response is None:
                error = BarnabasError("the Produce response has no entry for the partition")
                self._results.retry_or_fail(batch, error)
            else:
                self._apply_partition_response(batch, found_response)

    def _apply_partition_response(
        self, batch: ProducerBatch, response: PartitionProduceResponse
    ) -> None:
        if response.error_code == ErrorCode.NONE:
            self._results.stored(batch, response.base_offset, response.log_append_time_ms)
            return
        self._identity.on_response(batch)
        if ErrorCode.of(response.error_code) in LEADER_MOVED:
            leader = response.current_leader
            if leader is not None:
                self._client.metadata.move_leader(
                    batch.partition, leader.leader_id, leader.leader_epoch
                )
            self._background.run("metadata", partial(self._client.refresh, {batch.partition.topic}))
        self._results.apply_response(batch, response)

    def _on_lost_request(self, batches: list[ProducerBatch], error: BarnabasError) -> None:
        """Handles a failed request: the broker may or may not have stored the batches."""
        for batch in batches:
            self._results.retry_or_fail(batch, error)
        self._background.run("metadata", self._client.refresh)

    def _on_background_failure(self, what: Hashable, error: BarnabasError) -> None:
        """Keeps the error as the cause; fails all queued batches if it is permanent."""
        self._results.last_failure = error
        for batch in self._accumulator.waiting():
            batch.cause = batch.cause or error
        final = what == PRODUCER_ID and isinstance(error, BrokerError) and not error.retriable
        if final or isinstance(error, AuthenticationError):
            while batches := self._accumulator.waiting():
                for batch in batches:
                    self._results.fail_unsent(batch, error)

    # -- background tasks ----------------------------------------------------------------------

    async def _connect(self, node_id: int) -> None:
        try:
            await self._client.connection(node_id)
        except BarnabasError:
            await self._client.refresh()
            raise

    async def _fetch_producer_id(self) -> None:
        producer_id, epoch = await fetch_producer_id(self._client)
        self._identity.adopt(producer_id, epoch)


async def fetch_producer_id(client: KafkaClient) -> tuple[int, int]:
    """Returns a new producer id and its epoch; outside transactions any broker assigns one."""
    request = InitProducerIdRequest(
        transactional_id=None, transaction_timeout_ms=NO_TRANSACTION_TIMEOUT
    )
    response: InitProducerIdResponse = await client.send_to_any(request)
    if response.error_code:
        raise BrokerError(ErrorCode.of(response.error_code))
    return response.producer_id, response.producer_epoch
