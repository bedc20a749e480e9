"""From a coordinator's reply to the client's response, at once or later."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.coordinators.group_shard import Step
from barnabas.broker.coordinators.transaction_coordinator import TransactionCoordinator
from barnabas.broker.coordinators.transaction_shard import Operation
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


class Answer(Generic[ReplyT]):
    """One request that waits for a reply; told once, by `give` or `fail`.

    `encode` makes the response of a reply, `failed` the one for an error that kept the
    coordinator from replying. What is told while the handler runs becomes its plain result;
    what comes later fills the place that was kept in the connection's order.
    """

    __slots__ = ("_ctx", "_deferred", "_encode", "_failed", "_response")

    def __init__(
        self,
        ctx: RequestContext,
        encode: Callable[[ReplyT], Message],
        failed: Callable[[ErrorCode], Message],
    ) -> None:
        self._ctx = ctx
        self._encode = encode
        self._failed = failed
        self._response: Message | None = None
        self._deferred: Deferred | None = None

    def give(self, reply: ReplyT) -> None:
        self._respond(self._encode(reply))

    def fail(self, code: ErrorCode) -> None:
        self._respond(self._failed(code))

    def result(self) -> Result:
        """What the handler returns."""
        if self._response is not None:
            return self._response
        self._deferred = self._ctx.defer()
        return self._deferred

    def _respond(self, response: Message) -> None:
        if self._deferred is not None:
            self._deferred.respond(response)
        else:
            self._response = response


def answer_group(
    ctx: HandlerContext[GroupPorts], group_id: str, step: Step, answer: Answer[ReplyT]
) -> Result:
    """Run a step of the group's shard and answer with its reply."""
    try:
        ctx.services.groups.run(group_id, step, answer)
    except BrokerError as error:
        answer.fail(error.code)
    return answer.result()


def answer_transaction(
    ctx: HandlerContext[TransactionPorts],
    transactional_id: str,
    operation: Operation,
    answer: Answer[ReplyT],
) -> Result:
    """Run an operation of the transactional id's shard and answer with its reply."""
    try:
        ctx.services.transactions.run(transactional_id, operation, answer)
    except BrokerError as error:
        answer.fail(error.code)
    return answer.result()


def client_host(ctx: RequestContext) -> str:
    """The client's address as Kafka's tools show it."""
    return f"/{ctx.connection.stream.peer[0]}"
