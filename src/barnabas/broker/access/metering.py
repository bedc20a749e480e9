"""Applies quotas to handlers.

A client that exceeds a quota gets its response with a throttle time, and the broker does not read
from its connection for that time (KIP-219). Fetches of followers have their own quotas. Partition
changes (KIP-599) are counted per request, in `_Budget`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from barnabas.broker.access.client_quotas import ClientQuotas, QuotaMeter
from barnabas.broker.access.request_quota import EXEMPT, RequestQuota
from barnabas.broker.access.throttling import Handle, Muting, tell
from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.quotas import Limit
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse
from barnabas.wire.messages.produce import ProduceRequest


def metered(
    handlers: Iterable[Handler], quotas: ClientQuotas, requests: RequestQuota, muting: Muting
) -> list[Handler]:
    """Returns the handlers, with quotas where they apply."""

    def behind_meters(handler: Handler) -> Handler:
        handle = _metered(handler, quotas, muting)
        if handler.api not in EXEMPT:
            handle = requests.limited(handle)
        return replace(handler, handle=handle)

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
            ctx.amend_with(lambda response: tell(response, throttle_ms))
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
                tell(response, throttle_ms)
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


_REFUSED_FROM = {
    ApiKey.CREATE_TOPICS: 6,
    ApiKey.CREATE_PARTITIONS: 3,
    ApiKey.DELETE_TOPICS: 5,
}
MUTATIONS = frozenset(_REFUSED_FROM)


def limit_mutations(api: ApiKey, serve: Handle, meter: QuotaMeter, muting: Muting) -> Handle:
    """Returns a handler that counts created or deleted partitions."""

    def handle(ctx: RequestContext, request: Any) -> Result:
        limit = None
        if meter.active:
            limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
        if limit is not None:
            budget = _Budget(meter, limit, strict=ctx.version >= _REFUSED_FROM[api])
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

    def settle(self, response: Any, ctx: RequestContext, muting: Muting) -> Any:
        """Sets the throttle time of the response and mutes the connection."""
        if self._wait_ms > 0:
            tell(response, self._wait_ms)
            muting.mute(ctx.connection, self._wait_ms)
        return response
