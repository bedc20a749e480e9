"""Routing and retrying under all admin calls.

What it does not do: know any API. A call on many items is given as an `attempt` over the items
still open; items that failed for a reason that passes (a controller, coordinator or leader that
moved, a lost connection) are tried again until the deadline, the others keep their error.
"""

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from barnabas.admin.errors import UnknownBrokerError, passes, raise_error
from barnabas.admin.results import Results
from barnabas.clients._core.backoff import Backoff
from barnabas.clients._core.client import KafkaClient
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import (
    BarnabasError,
    BrokerError,
    DeadlineError,
    UnavailableError,
)
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
T = TypeVar("T")

_CONTROLLER_ERRORS = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.BROKER_NOT_AVAILABLE})

Outcome = Mapping[K, V | BarnabasError]


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a call must have its answer, in the loop's time."""

    at_s: float
    what: str

    @property
    def left_s(self) -> float:
        return max(self.at_s - asyncio.get_running_loop().time(), 0.001)

    @property
    def left_ms(self) -> int:
        return min(int(self.left_s * 1000), 2**31 - 1)

    def passed(self, cause: BarnabasError | None) -> DeadlineError:
        """The error to end with: what was tried, and what stood against it to the last."""
        return DeadlineError(f"{self.what}: {'no answer in time' if cause is None else cause}")


class AdminSession:
    """One cluster seen by an admin client; owned by one event loop."""

    def __init__(self, client: KafkaClient, default_timeout_s: float) -> None:
        self.client = client
        self._default_timeout_s = default_timeout_s
        client.allow_auto_create(False)

    def deadline(self, what: str, timeout_s: float | None) -> Deadline:
        limit = self._default_timeout_s if timeout_s is None else timeout_s
        return Deadline(asyncio.get_running_loop().time() + limit, what)

    # -- one answer ----------------------------------------------------------------------------

    async def until(self, operation: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """Run an operation until it succeeds, fails for good, or time is up."""
        backoff = self._backoff()
        last: BarnabasError | None = None
        while True:
            try:
                async with asyncio.timeout_at(deadline.at_s):
                    return await operation()
            except TimeoutError:
                raise deadline.passed(last) from last
            except BarnabasError as error:
                if not passes(error):
                    raise
                last = error
                await self._pause(backoff, deadline, error)

    async def to_any(self, request: Message, deadline: Deadline) -> Any:
        """Whichever broker answers."""
        return await self.until(lambda: self.client.send_to_any(request), deadline)

    async def to_broker(self, broker_id: int, request: Message, deadline: Deadline) -> Any:
        return await self.until(lambda: self.ask_broker(broker_id, request), deadline)

    async def ask_broker(self, broker_id: int, request: Message) -> Any:
        """One try with one broker; one that the cluster does not have is said so at once."""
        known = self.client.metadata.brokers
        if broker_id not in known:
            await self.client.refresh()
        known = self.client.metadata.brokers
        if broker_id not in known:
            raise UnknownBrokerError(
                f"there is no broker {broker_id}; alive are {', '.join(map(str, sorted(known)))}"
            )
        return await self.client.send(broker_id, request)

    async def to_controller(self, request: Message, deadline: Deadline) -> Any:
        """The controller, whose top-level NOT_CONTROLLER makes us look for it again."""

        async def attempt() -> Any:
            response = await self.client.send_to_controller(request)
            await self.check(response)
            return response

        return await self.until(attempt, deadline)

    async def to_coordinator(
        self, kind: int, key: str, request: Message, deadline: Deadline, *, min_version: int = 0
    ) -> Any:
        """The coordinator of a group or transactional id, found again when it moved."""

        async def attempt() -> Any:
            try:
                node = await self.client.coordinator(kind, key)
                await self.require(type(request), min_version, "for this", node)
                response = await self.client.send(node, request)
                raise_error(response)
            except BarnabasError as error:
                if passes(error):
                    self.client.forget_coordinator(kind, key)
                raise
            return response

        return await self.until(attempt, deadline)

    async def check(self, response: Any) -> None:
        """Raise a response's top-level error; a controller that moved is looked for first."""
        code = ErrorCode.of(getattr(response, "error_code", 0))
        if code in _CONTROLLER_ERRORS:
            await self.client.refresh()
        raise_error(response)

    # -- an answer per item --------------------------------------------------------------------

    async def per_item(
        self,
        items: Iterable[K],
        attempt: Callable[[list[K]], Awaitable[Outcome[K, V]]],
        deadline: Deadline,
    ) -> Results[K, V]:
        """Outcomes of all items; `attempt` is called again with those whose error passes."""
        order = list(dict.fromkeys(items))
        done: dict[K, V | BarnabasError] = {}
        pending, backoff = order, self._backoff()
        while pending:
            try:
                answer = await self.until(functools.partial(attempt, pending), deadline)
            except DeadlineError:
                if not done:
                    raise
                break
            for item in pending:
                done[item] = answer[item] if item in answer else _unanswered(deadline)
            pause = backoff.next_s()
            pending = [item for item in pending if _open(done[item])]
            if not pending or pause >= deadline.left_s:
                break
            await self._look_again([done[item] for item in pending])
            await asyncio.sleep(pause)
        return Results({item: done[item] for item in order})

    async def per_leader(
        self,
        partitions: Iterable[TopicPartition],
        ask: Callable[[int, list[TopicPartition]], Awaitable[Outcome[TopicPartition, V]]],
        deadline: Deadline,
    ) -> Results[TopicPartition, V]:
        """Ask the leader of each partition; leaders are looked up before every try."""

        async def attempt(pending: list[TopicPartition]) -> Outcome[TopicPartition, V]:
            leaders, outcomes = await self._leaders(pending)
            found: dict[TopicPartition, V | BarnabasError] = dict(outcomes)
            answers = await asyncio.gather(
                *(kept(ask(leader, group), group) for leader, group in leaders.items())
            )
            for answer in answers:
                found.update(answer)
            return found

        return await self.per_item(partitions, attempt, deadline)

    async def per_coordinator(
        self,
        kind: int,
        keys: Iterable[str],
        ask: Callable[[int, list[str]], Awaitable[Outcome[str, V]]],
        deadline: Deadline,
    ) -> Results[str, V]:
        """Ask the coordinator of each group or transactional id."""

        async def attempt(pending: list[str]) -> Outcome[str, V]:
            nodes, errors = await self._coordinators(kind, pending)
            found: dict[str, V | BarnabasError] = dict(errors)
            answers = await asyncio.gather(
                *(kept(ask(node, group), group) for node, group in nodes.items())
            )
            for answer in answers:
                found.update(answer)
            for key, outcome in found.items():
                if _open(outcome):
                    self.client.forget_coordinator(kind, key)
            return found

        return await self.per_item(keys, attempt, deadline)

    async def per_broker(
        self, ask: Callable[[int], Awaitable[T]], brokers: Iterable[int], deadline: Deadline
    ) -> Results[int, T]:
        """Ask several brokers at once."""

        async def one(broker_id: int) -> Outcome[int, T]:
            return {broker_id: await ask(broker_id)}

        async def attempt(pending: list[int]) -> Outcome[int, T]:
            found: dict[int, T | BarnabasError] = {}
            for answer in await asyncio.gather(*(kept(one(item), [item]) for item in pending)):
                found.update(answer)
            return found

        return await self.per_item(brokers, attempt, deadline)

    # -- metadata ------------------------------------------------------------------------------

    async def metadata(
        self, topics: Iterable[str | Uuid] | None, *, operations: bool = False
    ) -> MetadataResponse:
        """Metadata of these topics, or of all; also kept for routing. Never creates a topic."""
        request = MetadataRequest(
            topics=None if topics is None else [_metadata_topic(topic) for topic in topics],
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=operations,
            include_cluster_authorized_operations=operations,
        )
        response: MetadataResponse = await self.client.send_to_any(request)
        self.client.metadata.apply(response)
        return response

    async def require(
        self, request: type[Message], version: int, what: str, node: int | None = None
    ) -> None:
        """Refuse what an old broker would silently leave out of a request.

        Asked of one broker, or of the one that a request to any broker goes to next.
        """
        client = self.client
        connection = (
            await client.any_connection() if node is None else await client.connection(node)
        )
        served = connection.version_of(request)
        if served < version:
            raise BrokerError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"{connection.address} is too old {what}: it serves"
                f" {ApiKey(request.API_KEY).name} up to {served}, not {version}",
            )

    async def controller(self) -> int:
        """The id of the controller, as far as known."""
        if self.client.metadata.controller_id not in self.client.metadata.brokers:
            await self.client.refresh()
        return self.client.metadata.controller_id

    async def brokers(self, deadline: Deadline) -> list[int]:
        """The ids of all brokers now alive."""
        await self.until(self.client.refresh, deadline)
        return sorted(self.client.metadata.brokers)

    # -- inside --------------------------------------------------------------------------------

    async def _leaders(
        self, partitions: list[TopicPartition]
    ) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, BarnabasError]]:
        response = await self.metadata(sorted({place.topic for place in partitions}))
        known = {
            TopicPartition(topic.name or "", item.partition_index): item.leader_id
            for topic in response.topics
            for item in topic.partitions
        }
        topic_errors = {topic.name: topic.error_code for topic in response.topics}
        leaders: dict[int, list[TopicPartition]] = {}
        errors: dict[TopicPartition, BarnabasError] = {}
        for place in partitions:
            leader = known.get(place)
            if leader is not None and leader >= 0:
                leaders.setdefault(leader, []).append(place)
                continue
            errors[place] = _no_leader(place, leader, topic_errors.get(place.topic, 0))
        return leaders, errors

    async def _coordinators(
        self, kind: int, keys: list[str]
    ) -> tuple[dict[int, list[str]], dict[str, BarnabasError]]:
        found = await asyncio.gather(
            *(self.client.coordinator(kind, key) for key in keys), return_exceptions=True
        )
        nodes: dict[int, list[str]] = {}
        errors: dict[str, BarnabasError] = {}
        for key, node in zip(keys, found, strict=True):
            if isinstance(node, BarnabasError):
                errors[key] = node
            elif isinstance(node, BaseException):
                raise node
            else:
                nodes.setdefault(node, []).append(key)
        return nodes, errors

    async def _look_again(self, errors: Iterable[object]) -> None:
        codes = {error.code for error in errors if isinstance(error, BrokerError)}
        if codes & _CONTROLLER_ERRORS:
            with contextlib.suppress(UnavailableError):
                await self.client.refresh()

    async def _pause(self, backoff: Backoff, deadline: Deadline, error: BarnabasError) -> None:
        pause = backoff.next_s()
        if pause >= deadline.left_s:
            raise deadline.passed(error) from error
        await asyncio.sleep(pause)
        if isinstance(error, UnavailableError):
            # Whoever did not answer may have handed its part to another.
            with contextlib.suppress(TimeoutError, BarnabasError):
                async with asyncio.timeout_at(deadline.at_s):
                    await self.client.refresh()

    def _backoff(self) -> Backoff:
        options = self.client.options
        return Backoff(options.retry_backoff_ms, options.retry_backoff_max_ms)


def _open(outcome: object) -> bool:
    return isinstance(outcome, BarnabasError) and passes(outcome)


def _unanswered(deadline: Deadline) -> BarnabasError:
    message = f"{deadline.what}: the broker's answer left this item out"
    return BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, message)


async def kept(answer: Awaitable[Outcome[K, V]], items: list[K]) -> Outcome[K, V]:
    """An answer, or the error of its request for each item, so that the others keep theirs."""
    try:
        return await answer
    except BarnabasError as error:
        if not passes(error) and not isinstance(error, UnknownBrokerError):
            raise
        return dict.fromkeys(items, error)


def _metadata_topic(topic: str | Uuid) -> MetadataRequestTopic:
    if isinstance(topic, Uuid):
        return MetadataRequestTopic(topic_id=topic, name=None)
    return MetadataRequestTopic(name=topic)


def _no_leader(place: TopicPartition, leader: int | None, topic_error: int) -> BrokerError:
    if topic_error:
        code = ErrorCode.of(topic_error)
        return BrokerError(code, f"topic {place.topic!r}: {code.explanation}")
    if leader is None:
        return BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no partition {place}")
    return BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, f"{place} has no leader")
