"""Routes and retries single requests for all admin calls.

It has no code for single APIs. An operation that fails with a transient error (the controller or
coordinator moved, a connection was lost) is retried until its deadline. Calls on many items, where
each item has its own result, are in `fan_out`.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from barnabas.admin.results import UnknownBrokerError, is_transient, raise_error
from barnabas.clients.core.backoff import Backoff, Retries, retry_until
from barnabas.clients.core.client import KafkaClient
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import (
    BarnabasError,
    BrokerError,
    UnavailableError,
)
from barnabas.model.ids import Uuid
from barnabas.security.acl import Operation
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message, Request, ResponseT
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)

T = TypeVar("T")
_CONTROLLER_ERRORS = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.BROKER_NOT_AVAILABLE})


@dataclass(frozen=True, slots=True)
class Deadline:
    """The time, on the loop's clock, by which a call must have its response."""

    at_s: float
    what: str

    @property
    def left_s(self) -> float:
        return max(self.at_s - asyncio.get_running_loop().time(), 0.001)

    @property
    def left_ms(self) -> int:
        return min(int(self.left_s * 1000), 2**31 - 1)


class AdminSession:
    """The connection of an admin client to one cluster; owned by one event loop."""

    def __init__(self, client: KafkaClient, default_timeout_s: float) -> None:
        self.client = client
        self._default_timeout_s = default_timeout_s
        client.allow_auto_create(False)

    def deadline(self, what: str, timeout_s: float | None) -> Deadline:
        limit = self._default_timeout_s if timeout_s is None else timeout_s
        return Deadline(asyncio.get_running_loop().time() + limit, what)

    def backoff(self) -> Backoff:
        """Returns the configured backoff between retries."""
        options = self.client.options
        return Backoff(options.retry_backoff_ms, options.retry_backoff_max_ms)

    # -- single requests -----------------------------------------------------------------------

    async def until(self, operation: Callable[[], Awaitable[T]], deadline: Deadline) -> T:
        """Retries an operation until it succeeds, fails permanently, or the deadline passes."""
        retries = Retries(deadline.what, deadline.at_s, self.backoff(), is_transient)

        async def refresh(error: BarnabasError) -> None:
            if isinstance(error, UnavailableError):
                # Another broker may have taken over the role of the unreachable one.
                with contextlib.suppress(TimeoutError, BarnabasError):
                    async with asyncio.timeout_at(deadline.at_s):
                        await self.client.refresh()

        return await retry_until(operation, retries, refresh)

    async def to_any(self, request: Request[ResponseT], deadline: Deadline) -> ResponseT:
        """Sends a request to any available broker."""
        return await self.until(lambda: self.client.send_to_any(request), deadline)

    async def to_broker(
        self, broker_id: int, request: Request[ResponseT], deadline: Deadline
    ) -> ResponseT:
        return await self.until(lambda: self.send_to_broker(broker_id, request), deadline)

    async def send_to_broker(self, broker_id: int, request: Request[ResponseT]) -> ResponseT:
        """Sends a request to one broker once; raises UnknownBrokerError if it does not exist."""
        known = self.client.metadata.brokers
        if broker_id not in known:
            await self.client.refresh()
        known = self.client.metadata.brokers
        if broker_id not in known:
            live = ", ".join(map(str, sorted(known)))
            raise UnknownBrokerError(f"broker {broker_id} does not exist; live brokers: {live}")
        return await self.client.send(broker_id, request)

    async def to_controller(self, request: Request[ResponseT], deadline: Deadline) -> ResponseT:
        """Sends a request to the controller; finds it again after NOT_CONTROLLER."""

        async def attempt() -> ResponseT:
            response = await self.client.send_to_controller(request)
            await self.check(response)
            return response

        return await self.until(attempt, deadline)

    async def to_coordinator(
        self,
        kind: int,
        key: str,
        request: Request[ResponseT],
        deadline: Deadline,
        *,
        min_version: int = 0,
    ) -> ResponseT:
        """Sends a request to the coordinator of a group or transactional id."""

        async def attempt() -> ResponseT:
            try:
                node = await self.client.coordinator(kind, key)
                await self.require(type(request), min_version, "for this", node)
                response = await self.client.send(node, request)
                raise_error(response)
            except BarnabasError as error:
                if is_transient(error):
                    self.client.forget_coordinator(kind, key)
                raise
            return response

        return await self.until(attempt, deadline)

    async def check(self, response: object) -> None:
        """Raises the top-level error of a response; refreshes metadata if the controller moved."""
        code = ErrorCode.of(getattr(response, "error_code", 0))
        if code in _CONTROLLER_ERRORS:
            await self.client.refresh()
        raise_error(response)

    # -- metadata ------------------------------------------------------------------------------

    async def metadata(
        self, topics: Iterable[str | Uuid] | None, *, operations: bool = False
    ) -> MetadataResponse:
        """Returns the metadata of `topics`, or of all; never creates a topic."""
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
        """Raises UNSUPPORTED_VERSION if the broker would silently ignore a part of a request.

        Checks the broker `node`, or the broker that receives the next request to any broker.
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
        """Returns the id of the controller according to the last metadata."""
        if self.client.metadata.controller_id not in self.client.metadata.brokers:
            await self.client.refresh()
        return self.client.metadata.controller_id

    async def brokers(self, deadline: Deadline) -> list[int]:
        """Returns the ids of all live brokers."""
        await self.until(self.client.refresh, deadline)
        return sorted(self.client.metadata.brokers)

    async def refresh_after(self, errors: Iterable[object]) -> None:
        """Refreshes the metadata before a retry if an error says that the controller moved."""
        codes = {error.code for error in errors if isinstance(error, BrokerError)}
        if codes & _CONTROLLER_ERRORS:
            with contextlib.suppress(UnavailableError):
                await self.client.refresh()


def _metadata_topic(topic: str | Uuid) -> MetadataRequestTopic:
    if isinstance(topic, Uuid):
        return MetadataRequestTopic(topic_id=topic, name=None)
    return MetadataRequestTopic(name=topic)


OPERATIONS_NOT_REQUESTED = -(2**31)


class AdminCalls:
    """Base of the call classes; the admin client inherits from all of them."""

    _session: AdminSession

    def _deadline(self, what: str, timeout: float | None) -> Deadline:
        return self._session.deadline(what, timeout)


def operations_of(bits: int) -> frozenset[Operation] | None:
    """Decodes an authorized_operations field; returns None if the request did not include it."""
    if bits == OPERATIONS_NOT_REQUESTED:
        return None
    return frozenset(operation for operation in Operation if bits >> operation.value & 1)
