"""Runs calls on many items: sends each item to its responsible broker and collects the results.

A call is an `attempt` function over the items that have no final result yet. Items with a
transient error (a controller, coordinator or leader moved, a connection was lost) are retried
until the deadline; the others keep their error. `session` routes the single requests.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from barnabas.admin.results import Results, UnknownBrokerError, is_transient
from barnabas.admin.session import AdminSession, Deadline
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, DeadlineError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.metadata import MetadataResponse

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
N = TypeVar("N", bound=int | None)

Outcome = Mapping[K, V | BarnabasError]
Found = tuple[dict[int, list[K]], dict[K, BarnabasError]]
"""Items by responsible node, and errors of the items for which no node is known."""


def listed(items: Iterable[V], kind: type[V] | None = None) -> Iterable[V]:
    """Returns the items of a call; raises TypeError for a single string or a wrong item type."""
    if isinstance(items, str):
        raise TypeError(f"expected a list, not the string {items!r}")
    if kind is None:
        return items
    found = list(items)
    for item in found:
        if not isinstance(item, kind):
            raise TypeError(f"expected a {kind.__name__}, not {item!r}")
    return found


async def per_item(
    session: AdminSession,
    items: Iterable[K],
    attempt: Callable[[list[K]], Awaitable[Outcome[K, V]]],
    deadline: Deadline,
) -> Results[K, V]:
    """Returns the results of all items; retries `attempt` for items with transient errors."""
    order = list(dict.fromkeys(listed(items)))
    done: dict[K, V | BarnabasError] = {}
    pending, backoff = order, session.backoff()
    while pending:
        try:
            found = await session.until(functools.partial(attempt, pending), deadline)
        except DeadlineError:
            if not done:
                raise
            break
        for item in pending:
            done[item] = found[item] if item in found else _missing(deadline)
        pause = backoff.next_s()
        pending = [item for item in pending if _open(done[item])]
        if not pending or pause >= deadline.left_s:
            break
        await session.refresh_after([done[item] for item in pending])
        await asyncio.sleep(pause)
    return Results({item: done[item] for item in order})


async def per_leader(
    session: AdminSession,
    partitions: Iterable[TopicPartition],
    send: Callable[[int, list[TopicPartition]], Awaitable[Outcome[TopicPartition, V]]],
    deadline: Deadline,
) -> Results[TopicPartition, V]:
    """Sends each partition to its leader; leaders are looked up before every attempt."""

    async def attempt(pending: list[TopicPartition]) -> Outcome[TopicPartition, V]:
        response = await session.metadata(
            sorted({topic_partition.topic for topic_partition in pending})
        )
        return await _send_all(_leaders(response, pending), send)

    return await per_item(session, partitions, attempt, deadline)


async def per_coordinator(
    session: AdminSession,
    kind: int,
    keys: Iterable[str],
    send: Callable[[int, list[str]], Awaitable[Outcome[str, V]]],
    deadline: Deadline,
) -> Results[str, V]:
    """Sends each group or transactional id to its coordinator."""

    async def attempt(pending: list[str]) -> Outcome[str, V]:
        found = await _send_all(await _coordinators(session, kind, pending), send)
        for key, outcome in found.items():
            if _open(outcome):
                session.client.forget_coordinator(kind, key)
        return found

    return await per_item(session, keys, attempt, deadline)


async def per_broker(
    session: AdminSession,
    send: Callable[[int], Awaitable[V]],
    brokers: Iterable[int],
    deadline: Deadline,
) -> Results[int, V]:
    """Sends a request to several brokers concurrently."""

    async def one(broker_id: int, _: list[int]) -> Outcome[int, V]:
        return {broker_id: await send(broker_id)}

    async def attempt(pending: list[int]) -> Outcome[int, V]:
        return await _send_all(({broker_id: [broker_id] for broker_id in pending}, {}), one)

    return await per_item(session, brokers, attempt, deadline)


async def results_or_errors(
    send: Callable[[N, list[K]], Awaitable[Outcome[K, V]]], node: N, items: list[K]
) -> Outcome[K, V]:
    """Returns the results of one node; a transient error becomes the result of each item."""
    try:
        return await send(node, items)
    except BarnabasError as error:
        if not is_transient(error) and not isinstance(error, UnknownBrokerError):
            raise
        return dict.fromkeys(items, error)


async def _send_all(
    found: Found[K], send: Callable[[int, list[K]], Awaitable[Outcome[K, V]]]
) -> Outcome[K, V]:
    """Sends requests to all nodes concurrently, each with its items."""
    nodes, errors = found
    outcomes: dict[K, V | BarnabasError] = dict(errors)
    requests = (results_or_errors(send, node, group) for node, group in nodes.items())
    for results in await asyncio.gather(*requests):
        outcomes.update(results)
    return outcomes


def _open(outcome: object) -> bool:
    return isinstance(outcome, BarnabasError) and is_transient(outcome)


def _missing(deadline: Deadline) -> BarnabasError:
    message = f"{deadline.what}: the response of the broker does not contain this item"
    return BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, message)


# Responsible brokers


def _leaders(response: MetadataResponse, partitions: list[TopicPartition]) -> Found[TopicPartition]:
    known = {
        TopicPartition(topic.name or "", item.partition_index): item.leader_id
        for topic in response.topics
        for item in topic.partitions
    }
    topic_errors = {topic.name: topic.error_code for topic in response.topics}
    leaders: dict[int, list[TopicPartition]] = {}
    errors: dict[TopicPartition, BarnabasError] = {}
    for topic_partition in partitions:
        leader = known.get(topic_partition)
        if leader is not None and leader >= 0:
            leaders.setdefault(leader, []).append(topic_partition)
            continue
        errors[topic_partition] = _no_leader(
            topic_partition, leader, topic_errors.get(topic_partition.topic, 0)
        )
    return leaders, errors


def _no_leader(
    topic_partition: TopicPartition, leader: int | None, topic_error: int
) -> BrokerError:
    if topic_error:
        code = ErrorCode.of(topic_error)
        return BrokerError(code, f"topic {topic_partition.topic!r}: {code.explanation}")
    if leader is None:
        return BrokerError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"partition {topic_partition} does not exist"
        )
    return BrokerError(ErrorCode.LEADER_NOT_AVAILABLE, f"partition {topic_partition} has no leader")


async def _coordinators(session: AdminSession, kind: int, keys: list[str]) -> Found[str]:
    found = await asyncio.gather(
        *(session.client.coordinator(kind, key) for key in keys), return_exceptions=True
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
