"""Turns a coordinator's reply into the client's response, at once or later."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator, GroupOperation
from barnabas.broker.coordinators.transaction_coordinator import (
    TransactionCoordinator,
    TransactionOperation,
)
from barnabas.broker.handler import Deferred, HandlerContext, RequestContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.wire.message import Message

ReplyT = TypeVar("ReplyT")


class GroupPorts(RequestPorts, Protocol):
    """Parts of the broker that requests about groups use."""

    groups: GroupCoordinator


class TransactionPorts(RequestPorts, Protocol):
    """Parts of the broker that requests about transactions use."""

    transactions: TransactionCoordinator


class PendingResponse(Generic[ReplyT]):
    """A `ReplyReceiver` that sends the response to one request.

    `encode` makes the response of a reply, `failed` the response for an error that prevented the
    reply. A reply that arrives while the handler runs becomes its plain result; a later one
    completes the `Deferred` that keeps the request's position in the connection's order. With
    `pipelined` the connection handles its next request meanwhile.
    """

    __slots__ = ("_ctx", "_deferred", "_encode", "_failed", "_pipelined", "_response")

    def __init__(
        self,
        ctx: RequestContext,
        encode: Callable[[ReplyT], Message],
        failed: Callable[[ErrorCode], Message],
        *,
        pipelined: bool = False,
    ) -> None:
        self._ctx = ctx
        self._pipelined = pipelined
        self._encode = encode
        self._failed = failed
        self._response: Message | None = None
        self._deferred: Deferred | None = None

    def complete(self, reply: ReplyT) -> None:
        self._respond(self._encode(reply))

    def fail(self, code: ErrorCode) -> None:
        self._respond(self._failed(code))

    def result(self) -> Result:
        """Returns the result of the handler."""
        if self._response is not None:
            return self._response
        self._deferred = self._ctx.defer(pipelined=self._pipelined)
        return self._deferred

    def _respond(self, response: Message) -> None:
        if self._deferred is not None:
            self._deferred.respond(response)
        else:
            self._response = response


def run_on_group(
    ctx: HandlerContext[GroupPorts],
    group_id: str,
    operation: GroupOperation,
    pending: PendingResponse[ReplyT],
) -> Result:
    """Runs an operation on the group's shard and responds with its reply."""
    try:
        ctx.services.groups.run(group_id, operation, pending)
    except BrokerError as error:
        pending.fail(error.code)
    return pending.result()


def run_on_transaction(
    ctx: HandlerContext[TransactionPorts],
    transactional_id: str,
    operation: TransactionOperation,
    pending: PendingResponse[ReplyT],
) -> Result:
    """Runs an operation on the transactional id's shard and responds with its reply."""
    try:
        ctx.services.transactions.run(transactional_id, operation, pending)
    except BrokerError as error:
        pending.fail(error.code)
    return pending.result()


def client_host(ctx: RequestContext) -> str:
    """Returns the client's address as Kafka's tools show it."""
    return f"/{ctx.connection.stream.peer[0]}"
