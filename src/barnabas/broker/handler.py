"""Base types of the request handlers: `ApiHandler`, `HandlerContext` and the kinds of results.

A handler module declares its APIs with `ApiHandler`, each with a function `handle(ctx, request)`.
The function returns one of:

- the response, when it is available immediately;
- a `Deferred`, when the response depends on a later event (its position in the connection's order
  of responses is kept);
- an awaitable of the response, when the handler reads or writes the metadata tree, or makes a large
  response in slices (`runtime.slices`);
- NO_RESPONSE.

The dispatcher encodes the returned message in the version of the request, a large one in a thread.

Each handler module also declares Protocols with the parts of the broker that its handlers use
(their *ports*); a function takes a `HandlerContext` of that Protocol. `broker.services.Services`
implements all of them; mypy verifies that where `broker.handlers` lists the handlers. This module
imports none of those parts, so they can import it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from barnabas.broker.config import BrokerConfig
from barnabas.broker.metadata_cache import MetadataCache
from barnabas.broker.request_limits import is_large
from barnabas.model.control import Endpoint, LiveBroker
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId
from barnabas.net.replies import Part, PendingReply
from barnabas.net.server_connection import ServerConnection
from barnabas.security.principal import Principal
from barnabas.wire import _fetch_hot, _produce_hot
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader, encode_response
from barnabas.wire.message import Message
from barnabas.wire.messages.fetch import FetchResponse
from barnabas.wire.messages.produce import ProduceResponse

Amendment: TypeAlias = Callable[[Any], Any]
"""Changes a response before it is encoded: adds denied items, sets the throttle time."""


Denial: TypeAlias = tuple[str, str, str]
"""An operation that the authorizer denied: operation, resource type, resource name."""


Charge: TypeAlias = Callable[[int], None]
"""Counts created or deleted partitions; raises BrokerError while the client is throttled."""


def free_of_charge(partitions: int) -> None:
    """The `Charge` of clients without a quota."""


EncodingErrorHandler: TypeAlias = Callable[
    ["RequestContext", Message, Exception], list[Part] | None
]
"""Returns the frame that replaces a response that cannot be encoded, or None."""


class RequestPorts(Protocol):
    """Parts of the broker that every request may use; the base of all handlers' ports."""

    config: BrokerConfig
    broker_id: BrokerId
    metadata: MetadataCache
    connected_address_listeners: frozenset[str]
    """The listeners whose clients get the address they connected to as this broker's address."""


PortsT_co = TypeVar("PortsT_co", bound=RequestPorts, covariant=True)
PortsT_contra = TypeVar("PortsT_contra", bound=RequestPorts, contravariant=True)


class NoResponse:
    """The request gets no response (Produce with acks=0)."""

    __slots__ = ()


NO_RESPONSE = NoResponse()


class EncodedBody:
    """A response body that is already encoded."""

    __slots__ = ("body",)

    def __init__(self, body: bytes) -> None:
        self.body = body


class Deferred(PendingReply):
    """A response that is available later; `respond` is called once."""

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
        """Completes the reply, later if the response is large.

        An error replaces a response that cannot be encoded.
        """
        self._on_abandon = None
        context = self._context
        if context.encode_later is not None and is_large(response):
            context.encode_later(context, response, self)
        else:
            self.complete(context.encode(response))

    def follow(self, reply: PendingReply) -> None:
        """Completes this reply together with `reply`; abandoning this one abandons `reply`."""
        if self.ready:
            reply.abandon()
            return
        self._on_abandon = reply.abandon
        reply.when_ready(lambda: self.complete(reply.parts))


AvailableResult: TypeAlias = Message | Deferred | EncodedBody | NoResponse
Result: TypeAlias = AvailableResult | Awaitable[AvailableResult]
Handle: TypeAlias = Callable[["RequestContext", Any], Result]
"""Serves a request. Each handler takes the request class of its API, so the parameter is Any."""


class Interceptor(Protocol):
    """Is called in place of a handler; used by the start gate and for fault injection in tests."""

    def __call__(
        self,
        context: "RequestContext",
        request: object,
        handle: Handle,
    ) -> Result:
        """Returns the result for the request, usually by calling `handle`."""
        ...


AllowsShort: TypeAlias = Callable[[ServerConnection], bool]
"""Whether a request of this connection may be served without the step that wraps a handler."""


_SHORT_ENCODERS: dict[type[Message], Callable[[int, Any, int], Any]] = {
    ProduceResponse: _produce_hot.encode_single,
    FetchResponse: _fetch_hot.encode_single,
}
"""Encoders of the frequent responses; they return None for all that is not common."""


def encode_short(header: RequestHeader, response: Message) -> list[Part] | None:
    """Returns the frame of a frequent response without any error code, otherwise None."""
    encoder = _SHORT_ENCODERS.get(type(response))
    if encoder is None:
        return None
    return cast(list[Part] | None, encoder(header.correlation_id, response, header.api_version))


def encode_reply(header: RequestHeader, response: Message) -> list[Part]:
    """Returns the frame of a response, encoded in the version of its request."""
    parts = encode_response(header.correlation_id, response, header.api_key, header.api_version)
    return cast(list[Part], parts)


# No slots: a dataclass with slots that is also Generic cannot be created through an alias.
@dataclass(frozen=True)
class ApiHandler(Generic[PortsT_contra]):
    """Declares one API: key, served versions and function. ApiVersions is derived from these.

    `advertised_min` replaces the first served version in ApiVersions. Kafka does this for one API
    (Produce, KAFKA-18659).

    `short` serves the common form of the request directly from its frame, if all `short_guards`
    allow it; None leaves the request, unchanged, to `handle`. If it raises BrokerError,
    `short_failed` returns the response.
    """

    api: ApiKey
    versions: tuple[int, int]
    handle: Callable[["HandlerContext[PortsT_contra]", Any], Result]
    advertised_min: int | None = None
    short: Callable[[PortsT_contra, memoryview], bytes | None] | None = None
    short_guards: tuple[AllowsShort, ...] = ()
    short_failed: (
        Callable[["HandlerContext[PortsT_contra]", memoryview, BrokerError], Message] | None
    ) = None

    def wrapped(self, handle: Handle, allows_short: AllowsShort | None = None) -> "Handler":
        """Returns the handler with `handle`, which calls the handler's function.

        The short path does not call `handle`. So it is kept only for connections of which
        `allows_short` says that `handle` would change nothing; without `allows_short` for none.
        """
        if self.short is None or allows_short is None:
            return replace(self, handle=handle, short=None)
        return replace(self, handle=handle, short_guards=(*self.short_guards, allows_short))


Handler: TypeAlias = ApiHandler[Any]
"""A handler, independent of its ports: for code that wraps or lists handlers."""


class HandlerContext(Generic[PortsT_co]):
    """One request with its connection and the ports of its handler; created per request.

    `count_errors` gets the API and the response before it is encoded. `encode_later` encodes the
    large response of a deferred reply, without holding the loop, and completes the reply.

    `request` is the decoded request, from which an error response can be built. It is None for
    Produce: a context that waits for acknowledgements must not keep the frame's memory.
    """

    __slots__ = (
        "amend",
        "charge",
        "connection",
        "count_errors",
        "denials",
        "encode_later",
        "header",
        "on_encoding_error",
        "request",
        "services",
    )

    def __init__(
        self, header: RequestHeader, connection: ServerConnection, services: PortsT_co
    ) -> None:
        self.header = header
        self.connection = connection
        self.services = services
        self.amend: Amendment | None = None
        self.denials: list[Denial] | None = None
        self.charge: Charge = free_of_charge
        self.count_errors: Callable[[int, Message], None] | None = None
        self.encode_later: Callable[[RequestContext, Message, Deferred], None] | None = None
        self.request: Message | None = None
        self.on_encoding_error: EncodingErrorHandler | None = None

    @property
    def version(self) -> int:
        return self.header.api_version

    def defer(
        self, *, pipelined: bool = False, on_abandon: Callable[[], None] | None = None
    ) -> Deferred:
        """Returns a reply that the handler completes later."""
        return Deferred(self, pipelined=pipelined, on_abandon=on_abandon)

    def encode(self, response: Message) -> list[Part] | None:
        """Applies the amendments to a response and returns its frame.

        For a response that cannot be encoded, `on_encoding_error` returns the frame of an error
        response, or closes the connection and returns None.
        """
        try:
            if self.amend is not None:
                response = self.amend(response)
            short = encode_short(self.header, response)
            if short is not None:
                return short
            if self.count_errors is not None:
                self.count_errors(self.header.api_key, response)
            return encode_reply(self.header, response)
        except Exception as error:
            if self.on_encoding_error is None:
                raise
            return self.on_encoding_error(self, response, error)

    def amend_with(self, change: Amendment) -> None:
        """Adds a change of the response before its encoding; called before the handler runs."""
        first = self.amend
        self.amend = change if first is None else lambda response: change(first(response))

    @property
    def principal(self) -> Principal:
        """The authenticated principal of the connection."""
        return self.connection.principal

    def require_controller(self) -> None:
        """Raises NOT_CONTROLLER on other brokers; clients then look up the controller again."""
        if self.services.metadata.controller_id != self.services.broker_id:
            raise BrokerError(ErrorCode.NOT_CONTROLLER)

    def endpoint_of(self, broker: LiveBroker) -> Endpoint | None:
        """Returns the address of a broker on the listener that this client uses.

        Without configured advertised listeners the address of this broker is the one that the
        client connected to, because it is reachable from the client's network. A TLS listener with
        a host name is the exception.
        """
        services, listener = self.services, self.connection.listener_name
        own = broker.broker_id == services.broker_id
        if own and listener in services.connected_address_listeners:
            host, port = self.connection.stream.local
            return Endpoint(listener, host, port)
        return broker.endpoint(listener)


RequestContext: TypeAlias = HandlerContext[RequestPorts]
"""The context for code that uses only the ports of every request."""
