"""Puts quotas before the handlers they limit.

Whoever is over a limit is answered at once, told how long to wait, and not listened to for so long
(KIP-219). Followers are not clients: replication has limits of its own.
"""

from collections.abc import Iterable
from dataclasses import replace

from barnabas.broker.access.client_quotas import ClientQuotas, Meter
from barnabas.broker.access.mutation_quota import MUTATIONS, limit_mutations
from barnabas.broker.access.muting import Muting
from barnabas.broker.access.request_quota import EXEMPT, RequestQuota
from barnabas.broker.access.throttling import Handle, tell
from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse
from barnabas.wire.messages.produce import ProduceRequest


def metered(
    handlers: Iterable[Handler], quotas: ClientQuotas, requests: RequestQuota, muting: Muting
) -> list[Handler]:
    """The handlers with meters where there are quotas."""

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


def _produce(serve: Handle, meter: Meter, muting: Muting) -> Handle:
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


def _fetch(serve: Handle, meter: Meter, muting: Muting) -> Handle:
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
