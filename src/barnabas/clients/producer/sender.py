"""What sends: takes ready batches, groups them by leader, takes in the answers.

Decisions are elsewhere (`outcomes`, `identity`, `accumulator`); here is the IO around them. It
runs in callbacks of the client's loop, not in a task: a record that somebody waits for passes
from the wake-up to the socket, and its answer from the socket to the waiting thread, in one turn
of the loop each.
"""

import asyncio
from collections.abc import Iterable
from functools import partial

from barnabas.clients.core.client import KafkaClient
from barnabas.clients.core.cluster_metadata import Node
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.background import Background
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.encoding import build, seal
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.clients.producer.outcomes import Outcomes, SendGate
from barnabas.clients.producer.producer_ids import fetch_producer_id
from barnabas.clients.producer.requests import ProduceRequests
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.clients.producer.topics import TopicTracker
from barnabas.clients.producer.verdicts import LEADER_MOVED
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.net.client import ClientConnection
from barnabas.runtime.lazy_timer import LazyTimer
from barnabas.security.errors import AuthenticationError
from barnabas.wire.message import Message
from barnabas.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
)

PRODUCER_ID = "producer id"
IDLE_CHECK_MS = 1000
MIN_REFRESH_MS = 100
"""Metadata is not refreshed more often by age, however short metadata.max.age.ms is."""


class SlowNodes:
    """Brokers for which batches were ready for partitioner.availability.timeout.ms in vain."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._since: dict[int, int] = {}

    def wants(self, node_id: int, now: int) -> None:
        """A batch for this broker is ready."""
        self._since.setdefault(node_id, now)

    def takes(self, node_id: int) -> None:
        """A batch was sent to this broker."""
        self._since.pop(node_id, None)

    def at(self, now: int) -> frozenset[int]:
        """The brokers that records without a key should avoid; none when that is turned off."""
        limit = self._timeout_ms
        if not limit:
            return frozenset()
        return frozenset(node for node, since in self._since.items() if now - since > limit)


class Sender:
    """Owned by the client's event loop; `wake` may be called from any thread."""

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
        self._outcomes = Outcomes(settings, accumulator, identity, clock)
        self.requests = ProduceRequests(settings, client.metadata)
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._timer = LazyTimer(self._loop, self.wake)
        self._looking: asyncio.Handle | None = None
        self._closed = False
        pause_s = settings.client.retry_backoff_ms / 1000
        self._background = Background(self._loop, pause_s, self._refused, self.look_soon)
        self.topics: TopicTracker | None = None
        self._refusing = SlowNodes(settings.availability_timeout_ms)
        self._in_flight: dict[int, int] = {}
        self._resting: dict[int, float] = {}  # brokers that throttle, until when

    @property
    def gate(self) -> SendGate | None:
        return self._outcomes.gate

    @gate.setter
    def gate(self, gate: SendGate) -> None:
        self._outcomes.gate = gate

    def start(self) -> None:
        """Begin to look for work."""
        self.look_soon()

    def look_soon(self) -> None:
        """Look for work in the next turn of the loop, once however often it is asked."""
        if self._looking is None:
            self._looking = self._loop.call_soon(self.wake)

    def wake(self) -> None:
        """On the loop: look for work now, and again when something comes due."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        if not self._closed:
            wait_ms = self._step(self._clock.monotonic_ms())
            self._timer.set(self._loop.time() + wait_ms / 1000)

    def cause(self, batches: Iterable[ProducerBatch] = ()) -> BarnabasError | None:
        """Why batches have no answer yet, as far as it is known."""
        asked = batches or self._accumulator.incomplete()
        found = (batch.cause for batch in asked if batch.cause is not None)
        return next(found, self._outcomes.obstacle)

    def fail_closed(self, batch: ProducerBatch) -> None:
        """The producer is closed before the batch has an answer."""
        self._outcomes.fail_closed(batch)

    async def close(self) -> None:
        """Stop sending, end what runs beside; batches without an answer keep none."""
        self._closed = True
        self._timer.cancel()
        await self._background.close()

    # -- one round -----------------------------------------------------------------------------

    def _step(self, now: int) -> int:
        """Send what can be sent; milliseconds until there may be more to do."""
        next_ms = now + IDLE_CHECK_MS
        if self.topics is not None:
            next_ms = min(next_ms, self._keep_topics(self.topics, now))
        if not self._identity.ready and self.gate is None:
            self._background.run(PRODUCER_ID, self._fetch_producer_id)
        by_node: dict[int, list[TopicPartition]] = {}
        for batch in self._accumulator.waiting():
            if self._outcomes.expired(batch, now):
                continue
            ready_ms = self._accumulator.ready_at_ms(batch)
            if ready_ms > now:
                next_ms = min(next_ms, ready_ms)
            elif self._allowed(batch.partition):
                leader = self._leader(batch.partition)
                if leader is not None:
                    by_node.setdefault(leader.id, []).append(batch.partition)
        for node_id, places in by_node.items():
            self._send_to(node_id, places, now)
        return max(next_ms - now, 1)

    def _keep_topics(self, topics: TopicTracker, now: int) -> int:
        """Refresh metadata that is too old or lost its connection; when to look again."""
        topics.sync(self._refusing.at(now))
        if not self._accumulator.topics:
            return now + IDLE_CHECK_MS
        left_ms = self._settings.client.metadata_max_age_ms - self._client.metadata_age_ms
        if left_ms <= 0 or self._client.take_lost():
            topics.drop_idle(now)
            self._background.run("metadata", self._client.refresh)
        return now + int(max(left_ms, MIN_REFRESH_MS))

    def fail_removed(self, place: TopicPartition) -> None:
        """The topic was made anew without this partition: its records have nowhere to go."""
        error = self._client.metadata.why_no_leader(place)
        for batch in self._accumulator.queued(place):
            self._outcomes.fail_unsent(batch, error)

    def _allowed(self, place: TopicPartition) -> bool:
        if not self._identity.ready or not self._identity.may_send(place):
            return False
        return self.gate is None or self.gate.may_send(place)

    def _leader(self, place: TopicPartition) -> Node | None:
        found = self._client.metadata.leader_of(place)
        if found is None:
            self._background.run("metadata", partial(self._client.refresh, {place.topic}))
            return None
        return found[0]

    def _send_to(self, node_id: int, places: list[TopicPartition], now: int) -> None:
        self._refusing.wants(node_id, now)
        if node_id in self._resting:
            return
        connection = self._client.connected(node_id)
        if connection is None:
            self._background.run(f"connection {node_id}", partial(self._connect, node_id))
            return
        while places and self._in_flight.get(node_id, 0) < self._settings.max_in_flight:
            batches = self._take(places)
            if batches:
                self._refusing.takes(node_id)
                self._send(node_id, connection, batches)
            places = [place for place in places if self._has_ready(place, now)]

    def _has_ready(self, place: TopicPartition, now: int) -> bool:
        batch = self._accumulator.oldest(place)
        if batch is None or self._accumulator.ready_at_ms(batch) > now:
            return False
        return self._allowed(place)

    def _take(self, places: list[TopicPartition]) -> list[ProducerBatch]:
        batches: list[ProducerBatch] = []
        size = 0
        for place in places:
            batch = self._accumulator.drain(place)
            if batch.payload is None:
                build(batch, self._outcomes.builder)
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
        last = None if self.gate is None else self.gate.last_version(ProduceRequest)
        request, version = self.requests.make(batches, connection, last)
        for batch in batches:
            batch.attempts += 1
        try:
            if self._settings.acks == 0:
                connection.post(request, version=version)
                for batch in batches:
                    self._outcomes.stored_unheard(batch)
                return
            self._in_flight[node_id] = self._in_flight.get(node_id, 0) + 1
            connection.ask(
                request,
                partial(self._answered, node_id, batches),
                version=version,
                timeout_s=self._settings.request_timeout_ms / 1000,
            )
        except BarnabasError as error:
            self._answered(node_id, batches, None, error)

    # -- answers -------------------------------------------------------------------------------

    def _answered(
        self,
        node_id: int,
        batches: list[ProducerBatch],
        response: Message | None,
        error: BarnabasError | None,
    ) -> None:
        self._in_flight[node_id] = max(self._in_flight.get(node_id, 0) - 1, 0)
        if isinstance(response, ProduceResponse):
            if response.throttle_time_ms > 0:
                self._rest(node_id, response.throttle_time_ms)
            self._read(response, batches)
        else:
            self._lost(batches, error or UnavailableError("no answer"))
        if self._accumulator.has_waiting:
            self.look_soon()

    def _rest(self, node_id: int, throttle_ms: int) -> None:
        """A quota is spent: the broker would not read what is sent meanwhile (KIP-219)."""
        until_s = self._loop.time() + throttle_ms / 1000
        self._resting[node_id] = max(until_s, self._resting.get(node_id, 0.0))
        self._loop.call_at(until_s, self._rested, node_id)

    def _rested(self, node_id: int) -> None:
        if self._loop.time() >= self._resting.get(node_id, 0.0):
            self._resting.pop(node_id, None)
            self.look_soon()

    def _read(self, response: ProduceResponse, batches: list[ProducerBatch]) -> None:
        names = self._client.metadata.topic_names
        answers = {
            TopicPartition(topic.name or names.get(topic.topic_id, ""), item.index): item
            for topic in response.responses
            for item in topic.partition_responses
        }
        for batch in batches:
            answer = answers.get(batch.partition)
            if answer is None:
                error = BarnabasError("the broker's answer leaves it out")
                self._outcomes.retry_or_fail(batch, error)
            else:
                self._take_in(batch, answer)

    def _take_in(self, batch: ProducerBatch, answer: PartitionProduceResponse) -> None:
        self._identity.answered(batch)
        if answer.error_code == ErrorCode.NONE:
            self._outcomes.stored(batch, answer.base_offset, answer.log_append_time_ms)
            return
        if ErrorCode.of(answer.error_code) in LEADER_MOVED:
            leader = answer.current_leader
            if leader is not None:
                self._client.metadata.move_leader(
                    batch.partition, leader.leader_id, leader.leader_epoch
                )
            self._background.run("metadata", partial(self._client.refresh, {batch.partition.topic}))
        self._outcomes.judge(batch, answer)

    def _lost(self, batches: list[ProducerBatch], error: BarnabasError) -> None:
        """The connection failed: whether the batches were stored is unknown."""
        for batch in batches:
            self._outcomes.retry_or_fail(batch, error)
        self._background.run("metadata", self._client.refresh)

    def _refused(self, what: str, error: BarnabasError) -> None:
        """Fail waiting batches when the cluster rejects this producer for good."""
        self._outcomes.obstacle = error
        for batch in self._accumulator.waiting():
            batch.cause = batch.cause or error
        final = what == PRODUCER_ID and isinstance(error, BrokerError) and not error.retriable
        if final or isinstance(error, AuthenticationError):
            while batches := self._accumulator.waiting():
                for batch in batches:
                    self._outcomes.fail_unsent(batch, error)

    # -- what takes time -----------------------------------------------------------------------

    async def _connect(self, node_id: int) -> None:
        try:
            await self._client.connection(node_id)
        except BarnabasError:
            await self._client.refresh()
            raise

    async def _fetch_producer_id(self) -> None:
        producer_id, epoch = await fetch_producer_id(self._client)
        self._identity.adopt(producer_id, epoch)
