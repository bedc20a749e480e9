"""What a handler is: a declaration of an API with its versions, and one function.

`handle(ctx, request)` returns the response when it can be given at once, a `Deferred` when it
must wait for something (the response follows later, its place in the order is kept), an awaitable
when it has to talk to the metadata tree, or NO_RESPONSE. The returned message is encoded by the
dispatcher in the version of the request.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from barnabas.model.control import Endpoint, LiveBroker
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.net.parts import Part
from barnabas.net.pending import PendingReply
from barnabas.net.server_connection import ServerConnection
from barnabas.security.principal import Principal
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader, encode_response
from barnabas.wire.message import Message

if TYPE_CHECKING:
    from barnabas.broker.services import Services


Amendment: TypeAlias = Callable[[Any], Any]
"""Changes a response before it is encoded: what a guard kept from the handler, a throttle time."""


Charge: TypeAlias = Callable[[int], None]
"""Counts partitions that are made or removed; BrokerError when their sender has to wait first."""


def free_of_charge(partitions: int) -> None:
    """For senders without a quota."""


EncodingErrorHandler: TypeAlias = Callable[
    ["RequestContext", Message, Exception], list[Part] | None
]
"""Gives the frame to send in place of a response that cannot be encoded, or None for none."""


class NoResponse:
    """The API of this request has no response (produce with acks=0)."""

    __slots__ = ()


NO_RESPONSE = NoResponse()


class EncodedBody:
    """A response body that is bytes already."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body


class Deferred(PendingReply):
    """A response that comes later: `respond` once."""

    __slots__ = ("_context",)

    def __init__(
        self,
        context: "RequestContext",
        *,
        pipelined: bool = False,
        on_abandon: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(pipelined=pipelined, on_abandon=on_abandon)
        self._context = context

    def respond(self, response: Message) -> None:
        """Fill in the response; one that cannot be encoded is replaced by an error."""
        self._on_abandon = None
        self.complete(self._context.encode(response))

    def follow(self, reply: PendingReply) -> None:
        """Become ready when `reply` does, with its parts; abandon it when abandoned."""
        if self.ready:
            reply.abandon()
            return
        self._on_abandon = reply.abandon
        reply.when_ready(lambda: self.complete(reply.parts))


Result: TypeAlias = Message | Deferred | EncodedBody | NoResponse | Awaitable[Message]


class Interceptor(Protocol):
    """Stands between the dispatcher and the handlers; tests put errors in here."""

    def __call__(
        self,
        context: "RequestContext",
        request: Any,
        handle: Callable[["RequestContext", Any], Result],
    ) -> Result:
        """Answer the request, by `handle` or otherwise."""
        ...


def encode_reply(header: RequestHeader, response: Message) -> list[Part]:
    """The whole frame of a response, in the version of its request."""
    parts = encode_response(header.correlation_id, response, header.api_key, header.api_version)
    return cast(list[Part], parts)


@dataclass(frozen=True, slots=True)
class Handler:
    """One API. ApiVersions is derived from these declarations.

    `advertised_min` is told to clients in place of the first version served, for the one API
    where Kafka does so too (Produce, KAFKA-18659).
    """

    api: ApiKey
    versions: tuple[int, int]
    handle: Callable[["RequestContext", Any], Result]
    advertised_min: int | None = None


class RequestContext:
    """One request, and what a handler may reach while serving it; made per request.

    `request` is the decoded request, from which an error response can be made. It is None for
    Produce: a context that waits for acknowledgements must not keep the frame's memory.
    """

    __slots__ = (
        "amend",
        "charge",
        "connection",
        "header",
        "on_encoding_error",
        "request",
        "services",
    )

    def __init__(
        self, header: RequestHeader, connection: ServerConnection, services: "Services"
    ) -> None:
        self.header = header
        self.connection = connection
        self.services = services
        self.amend: Amendment | None = None
        self.charge: Charge = free_of_charge
        self.request: Message | None = None
        self.on_encoding_error: EncodingErrorHandler | None = None

    @property
    def version(self) -> int:
        return self.header.api_version

    def defer(
        self, *, pipelined: bool = False, on_abandon: Callable[[], None] | None = None
    ) -> Deferred:
        """A response to be given later."""
        return Deferred(self, pipelined=pipelined, on_abandon=on_abandon)

    def encode(self, response: Message) -> list[Part] | None:
        """The frame of a response after its amendments.

        A response that cannot be encoded is handed to `on_encoding_error`, which gives the frame
        of an error response, or closes the connection and gives None.
        """
        try:
            if self.amend is not None:
                response = self.amend(response)
            return encode_reply(self.header, response)
        except Exception as error:
            if self.on_encoding_error is None:
                raise
            return self.on_encoding_error(self, response, error)

    def amend_with(self, change: Amendment) -> None:
        """Have the response changed before it is encoded; called before the handler runs."""
        first = self.amend
        self.amend = change if first is None else lambda response: change(first(response))

    @property
    def principal(self) -> Principal:
        """Who sent the request."""
        return self.connection.principal

    def require_controller(self) -> None:
        """Refuse what only the controller may do (clients then look for it again)."""
        if self.services.metadata.controller_id != self.services.broker_id:
            raise BrokerError(ErrorCode.NOT_CONTROLLER)

    def endpoint_of(self, broker: LiveBroker) -> Endpoint | None:
        """Where this client reaches a broker: under the listener it used itself.

        Without configured advertised listeners a client is told, of this broker, the very
        address it connected to: that one works through any name or network it came by.
        """
        services = self.services
        if broker.broker_id == services.broker_id and services.answers_own_address:
            host, port = self.connection.stream.local
            return Endpoint(self.connection.listener_name, host, port)
        return broker.endpoint(self.connection.listener_name)
