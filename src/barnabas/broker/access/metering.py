"""Applies quotas to handlers.

A client that exceeds a quota gets its response with a throttle time, and the broker does not read
from its connection for that time (KIP-219). Fetches of followers have their own quotas. Partition
changes (KIP-599) are counted per request, in `_Budget`.

The quota on the broker's time (KIP-124, `request_percentage`) counts the time that the loop spends
on a client's request, from the bytes of the request to the bytes of the response; time in a
purgatory does not count. 100 is all the time of the broker, because it has one loop; Kafka counts
100 for each of its threads. Requests of brokers are exempt. The time of a request is known only
after its response was sent. So a response contains the throttle time up to that point, and the rest
counts towards the next request.
"""

from collections.abc import Callable, Iterable

from barnabas.broker.access.client_quotas import ClientQuotas, QuotaMeter
from barnabas.broker.access.inter_broker import INTER_BROKER_APIS
from barnabas.broker.access.throttling import MessageT, Muting, set_throttle_time
from barnabas.broker.handler import Handle, Handler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.net.replies import Reply
from barnabas.net.server_connection import FrameHandler, ServerConnection
from barnabas.security.quotas import Limit
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.message import Message
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse
from barnabas.wire.messages.produce import ProduceRequest

# Requests of brokers, and logins, which have other limits.
EXEMPT = frozenset(
    {
        *INTER_BROKER_APIS,
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
    }
)
_PERCENT_PER_NS = 100 / 1e9


class RequestQuota:
    """Measures requests and throttles clients; owned by the broker's loop.

    `timed` wraps the dispatcher and measures the time; `limited` wraps each handler and determines
    the client.
    """

    def __init__(self, meter: QuotaMeter, muting: Muting, now_ns: Callable[[], int]) -> None:
        self.meter = meter
        self._muting = muting
        self._now_ns = now_ns
        self._limit: Limit | None = None  # of the request that is being served
        self._counted_ns = 0  # end of the time that has been counted
        self._timing = False

    def timed(self, dispatch: FrameHandler) -> FrameHandler:
        """Returns the dispatcher with its time measured."""
        meter = self.meter

        def serve(connection: ServerConnection, frame: memoryview) -> Reply:
            if not meter.active:
                return dispatch(connection, frame)
            self._limit, self._counted_ns = None, self._now_ns()
            self._timing = True
            try:
                return dispatch(connection, frame)
            finally:
                self._close()

        return serve

    def _close(self) -> None:
        self._timing = False
        limit, self._limit = self._limit, None
        if limit is not None:
            self._count(limit)

    def limited(self, serve: Handle) -> Handle:
        """Returns a handler whose time is counted."""
        meter = self.meter

        def handle(ctx: RequestContext, request: Message) -> Result:
            if meter.active and not _of_a_broker(request):
                limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
                if limit is not None and not self._timing:
                    return self._serve_later(ctx, request, limit, serve)
                if limit is not None:
                    self._limit = limit
                    ctx.amend_with(lambda response: self._set_throttle(ctx, limit, response))
            return serve(ctx, request)

        return handle

    def _serve_later(
        self, ctx: RequestContext, request: Message, limit: Limit, serve: Handle
    ) -> Result:
        """Serves a delayed request outside the dispatcher; counts the time of its handler."""
        started_ns = self._now_ns()
        ctx.amend_with(lambda response: self._set_throttle(ctx, limit, response))
        try:
            return serve(ctx, request)
        finally:
            self.meter.record(limit, (self._now_ns() - started_ns) * _PERCENT_PER_NS)

    def _set_throttle(self, ctx: RequestContext, limit: Limit, response: MessageT) -> MessageT:
        # The time of a deferred response was counted with its request.
        wait_ms = self._count(limit) if self._limit is limit else self.meter.record(limit, 0)
        # As in Kafka at most one window; the next request is throttled again if necessary.
        wait_ms = min(wait_ms, self.meter.window_ms)
        if wait_ms > 0:
            self._muting.mute(ctx.connection, wait_ms)
            set_throttle_time(response, wait_ms)
        return response

    def _count(self, limit: Limit) -> int:
        now_ns = self._now_ns()
        spent_ns, self._counted_ns = now_ns - self._counted_ns, now_ns
        return self.meter.record(limit, spent_ns * _PERCENT_PER_NS)


def _of_a_broker(request: Message) -> bool:
    """Whether a follower sent the request (Fetch, OffsetForLeaderEpoch, ListOffsets)."""
    state = getattr(request, "replica_state", None)
    replica_id = getattr(request, "replica_id", -1) if state is None else state.replica_id
    return isinstance(replica_id, int) and replica_id >= 0


def metered(
    handlers: Iterable[Handler], quotas: ClientQuotas, requests: RequestQuota, muting: Muting
) -> list[Handler]:
    """Returns the handlers, with quotas where they apply."""

    def behind_meters(handler: Handler) -> Handler:
        handle = _metered(handler, quotas, muting)
        if handler.api not in EXEMPT:
            handle = requests.limited(handle)
        return handler.wrapped(handle, unlimited)

    meters = requests.meter, quotas.produce, quotas.fetch

    def unlimited(connection: ServerConnection) -> bool:
        return not (meters[0].active or meters[1].active or meters[2].active)

    return [behind_meters(handler) for handler in handlers]


def _metered(handler: Handler, quotas: ClientQuotas, muting: Muting) -> Handle:
    if handler.api is ApiKey.PRODUCE:
        return _produce(handler.handle, quotas.produce, muting)
    if handler.api is ApiKey.FETCH:
        return _fetch(handler.handle, quotas.fetch, muting)
    if handler.api in MUTATIONS:
        return limit_mutations(handler.api, handler.handle, quotas.mutations, muting)
    return handler.handle


def _produce(serve: Handle, meter: QuotaMeter, muting: Muting) -> Handle:
    def handle(ctx: RequestContext, request: ProduceRequest) -> Result:
        if not meter.active:
            return serve(ctx, request)
        limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
        if limit is None:
            return serve(ctx, request)
        size = sum(
            len(data.records or b"")
            for topic in request.topic_data
            for data in topic.partition_data
        )
        throttle_ms = meter.record(limit, size)
        if throttle_ms > 0:
            ctx.amend_with(lambda response: set_throttle_time(response, throttle_ms))
            muting.mute(ctx.connection, throttle_ms)
        return serve(ctx, request)

    return handle


def _fetch(serve: Handle, meter: QuotaMeter, muting: Muting) -> Handle:
    def handle(ctx: RequestContext, request: FetchRequest) -> Result:
        if not meter.active or _is_follower(request):
            return serve(ctx, request)
        limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
        if limit is None:
            return serve(ctx, request)
        request.max_bytes = min(request.max_bytes, meter.burst(limit))

        def count(response: FetchResponse) -> FetchResponse:
            size = _size(response)
            throttle_ms = meter.record(limit, size) if size else 0
            if throttle_ms > 0:
                set_throttle_time(response, throttle_ms)
                muting.mute(ctx.connection, throttle_ms)
            return response

        ctx.amend_with(count)
        return serve(ctx, request)

    return handle


def _is_follower(request: FetchRequest) -> bool:
    state = request.replica_state
    return (request.replica_id if state is None else state.replica_id) >= 0


def _size(response: FetchResponse) -> int:
    return sum(len(data.records or b"") for t in response.responses for data in t.partitions)


# --- creation and deletion of partitions ---------------------------------------------------------


_REJECTED_FROM = {
    ApiKey.CREATE_TOPICS: 6,
    ApiKey.CREATE_PARTITIONS: 3,
    ApiKey.DELETE_TOPICS: 5,
}
MUTATIONS = frozenset(_REJECTED_FROM)


def limit_mutations(api: ApiKey, serve: Handle, meter: QuotaMeter, muting: Muting) -> Handle:
    """Returns a handler that counts created or deleted partitions."""

    def handle(ctx: RequestContext, request: Message) -> Result:
        limit = None
        if meter.active:
            limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
        if limit is not None:
            budget = _Budget(meter, limit, strict=ctx.version >= _REJECTED_FROM[api])
            ctx.charge = budget.charge
            ctx.amend_with(lambda response: budget.settle(response, ctx, muting))
        return serve(ctx, request)

    return handle


class _Budget:
    """Partitions that one request takes from the quota of its sender."""

    def __init__(self, meter: QuotaMeter, limit: Limit, *, strict: bool) -> None:
        self._meter = meter
        self._limit = limit
        self._strict = strict
        self._wait_ms = 0

    def charge(self, partitions: int) -> None:
        if not self._strict:
            self._wait_ms = self._meter.record(self._limit, partitions)
            return
        self._wait_ms = self._meter.record(self._limit, 0)
        if self._wait_ms > 0:
            raise BrokerError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        self._meter.record(self._limit, partitions)

    def settle(self, response: MessageT, ctx: RequestContext, muting: Muting) -> MessageT:
        """Sets the throttle time of the response and mutes the connection."""
        if self._wait_ms > 0:
            set_throttle_time(response, self._wait_ms)
            muting.mute(ctx.connection, self._wait_ms)
        return response
