"""The quota on a broker's time (KIP-124): `request_percentage`.

It counts the time that the loop spends on a client's request, from the bytes of the request to the
bytes of the response; time in a purgatory does not count. 100 is all the time of the broker,
because it has one loop; Kafka counts 100 for each of its threads. Requests of brokers are exempt.

The time of a request is known only after its response was sent. So a response contains the throttle
time up to that point, and the rest counts towards the next request.
"""

from collections.abc import Callable
from typing import Any

from barnabas.broker.access.client_quotas import QuotaMeter
from barnabas.broker.access.inter_broker import INTER_BROKER_APIS
from barnabas.broker.access.throttling import Handle, Muting, tell
from barnabas.broker.handler import RequestContext, Result
from barnabas.net.replies import Reply
from barnabas.net.server_connection import FrameHandler, ServerConnection
from barnabas.security.quotas import Limit
from barnabas.wire.api_keys import ApiKey

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
        self._meter = meter
        self._muting = muting
        self._now_ns = now_ns
        self._limit: Limit | None = None  # of the request that is being served
        self._counted_ns = 0  # end of the time that has been counted
        self._timing = False

    def timed(self, dispatch: FrameHandler) -> FrameHandler:
        """Returns the dispatcher with its time measured."""
        meter = self._meter

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
        meter = self._meter

        def handle(ctx: RequestContext, request: Any) -> Result:
            if meter.active and not _of_a_broker(request):
                limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
                if limit is not None and not self._timing:
                    return self._serve_later(ctx, request, limit, serve)
                if limit is not None:
                    self._limit = limit
                    ctx.amend_with(lambda response: self._tell(ctx, limit, response))
            return serve(ctx, request)

        return handle

    def _serve_later(
        self, ctx: RequestContext, request: Any, limit: Limit, serve: Handle
    ) -> Result:
        """Serves a delayed request outside the dispatcher; counts the time of its handler."""
        started_ns = self._now_ns()
        ctx.amend_with(lambda response: self._tell(ctx, limit, response))
        try:
            return serve(ctx, request)
        finally:
            self._meter.record(limit, (self._now_ns() - started_ns) * _PERCENT_PER_NS)

    def _tell(self, ctx: RequestContext, limit: Limit, response: Any) -> Any:
        # The time of a deferred response was counted with its request.
        wait_ms = self._count(limit) if self._limit is limit else self._meter.record(limit, 0)
        # As in Kafka at most one window; the next request is throttled again if necessary.
        wait_ms = min(wait_ms, self._meter.window_ms)
        if wait_ms > 0:
            self._muting.mute(ctx.connection, wait_ms)
            tell(response, wait_ms)
        return response

    def _count(self, limit: Limit) -> int:
        now_ns = self._now_ns()
        spent_ns, self._counted_ns = now_ns - self._counted_ns, now_ns
        return self._meter.record(limit, spent_ns * _PERCENT_PER_NS)


def _of_a_broker(request: Any) -> bool:
    """Whether a follower sent the request (Fetch, OffsetForLeaderEpoch, ListOffsets)."""
    state = getattr(request, "replica_state", None)
    replica_id = getattr(request, "replica_id", -1) if state is None else state.replica_id
    return isinstance(replica_id, int) and replica_id >= 0
