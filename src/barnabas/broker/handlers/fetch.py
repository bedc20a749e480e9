"""Fetch: sends batches from the page cache to the socket; waits for data if there is none.

v4 isolation level; v5 log start offset; v7 sessions (KIP-227); v9 leader epochs (KIP-320); v10
zstd; v11 reading from followers (KIP-392); v12 flexible, diverging epochs; v13 topics by id; v15
the follower's state in a tagged field; v16 leader hints (KIP-951); v17 directory ids and v18 the
follower's high watermark, both only for KRaft.

The response is sent immediately if `min_bytes` are available, a partition has an error, or the
maximum wait time is 0. Otherwise the request waits in the purgatory. The first non-empty partition
returns at least one complete batch of any size; otherwise a consumer could not read past it.
"""

from typing import Protocol

from barnabas.broker.fetch_reading import MANY_PARTITIONS, FetchJob, FetchPorts
from barnabas.broker.fetch_sessions import FetchSessionRequest, SessionPartition, TargetKey
from barnabas.broker.handler import (
    ApiHandler,
    AvailableResult,
    Deferred,
    HandlerContext,
    Result,
)
from barnabas.broker.handlers._single_fetch_hot import serve_single
from barnabas.broker.purgatory import DelayedOperation, Purgatory
from barnabas.replication.partition import Partition
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse

_IDS_FROM = 13


class FetchHandlerPorts(FetchPorts, Protocol):
    """Parts of the broker that this handler uses."""

    fetch_purgatory: Purgatory


def handle_fetch(ctx: HandlerContext[FetchHandlerPorts], request: FetchRequest) -> Result:
    services = ctx.services
    plan = services.fetch_sessions.plan(
        _session_request(ctx, request), services.clock.monotonic_ms()
    )
    if plan.error:
        return FetchResponse(error_code=plan.error)
    job = FetchJob(ctx, request, plan)
    if len(plan.targets) > MANY_PARTITIONS and plan.session is None:
        return _serve_in_slices(ctx, request, job)
    if job.read() or request.max_wait_ms <= 0:
        return job.response()
    job.discard()
    return _wait(ctx, request, job)


async def _serve_in_slices(
    ctx: HandlerContext[FetchHandlerPorts], request: FetchRequest, job: FetchJob
) -> AvailableResult:
    """Serves a request without a session, or the first of a session, for many partitions.

    Later requests of a session read only the partitions that changed.
    """
    if await job.read_in_slices() or request.max_wait_ms <= 0:
        return await job.response_in_slices()
    job.discard()
    return _wait(ctx, request, job)


def _session_request(
    ctx: HandlerContext[FetchHandlerPorts], request: FetchRequest
) -> FetchSessionRequest:
    by_id = ctx.version >= _IDS_FROM
    targets = []
    for topic in request.topics:
        name = None if by_id else topic.topic
        for partition in topic.partitions:
            target = SessionPartition(name, topic.topic_id, partition.partition)
            target.fetch_offset = partition.fetch_offset
            target.max_bytes = partition.partition_max_bytes
            target.current_leader_epoch = partition.current_leader_epoch
            target.last_fetched_epoch = partition.last_fetched_epoch
            target.log_start_offset = partition.log_start_offset
            targets.append(target)
    forgotten: list[TargetKey] = [
        (topic.topic_id if by_id else topic.topic, number)
        for topic in request.forgotten_topics_data
        for number in topic.partitions
    ]
    return FetchSessionRequest(request.session_id, request.session_epoch, by_id, targets, forgotten)


class DelayedFetch(DelayedOperation):
    """Waits until `min_bytes` are available or the state of a partition changes."""

    __slots__ = ("_deferred", "_job")

    def __init__(self, deferred: Deferred, job: FetchJob) -> None:
        super().__init__()
        self._deferred = deferred
        self._job = job

    def try_complete(self, changed: Partition) -> bool:
        if not self._job.may_have_enough(changed):
            return False
        if self._job.read():
            return True
        self._job.discard()
        return False

    def finish(self, *, expired: bool) -> None:
        if expired:
            self._job.read()
        self._deferred.respond(self._job.response())


def _wait(ctx: HandlerContext[FetchHandlerPorts], request: FetchRequest, job: FetchJob) -> Deferred:
    purgatory = ctx.services.fetch_purgatory
    deferred = ctx.defer(on_abandon=lambda: purgatory.cancel(operation))
    operation = DelayedFetch(deferred, job)
    purgatory.watch(operation, job.wait_for(), request.max_wait_ms)
    return deferred


HANDLERS = (ApiHandler(ApiKey.FETCH, (4, 18), handle_fetch, short=serve_single),)
