"""Produce: appends one batch per partition; responds when `acks` replicas have it.

v3 batches with magic 2; v5 log start offset; v7 zstd; v8 record errors and a message;
v9 flexible; v10 leader hints (KIP-951); v11 transaction errors that older clients do not support;
v12 the first write adds a partition to the producer's transaction (KIP-890); v13 topics by id.
Versions 0 to 2 are advertised but rejected: librdkafka before 2.11.1 disables compression if the
advertised range does not include them (KAFKA-18659).

With acks=0 there is no response; an error closes the connection, so that the client detects it.
"""

import itertools
from functools import partial
from typing import NamedTuple, Protocol

from barnabas.broker.coordinators.produce_verification import (
    NOT_VERIFIED,
    VerificationPorts,
    VerificationResults,
    VerifiedProduce,
)
from barnabas.broker.error_responses import leader_hint, node_endpoints
from barnabas.broker.handler import (
    NO_RESPONSE,
    ApiHandler,
    AvailableResult,
    Deferred,
    HandlerContext,
    Result,
)
from barnabas.broker.handlers._single_produce_hot import serve_single
from barnabas.broker.metrics.topic_metrics import TopicMetrics
from barnabas.broker.produce_rules import (
    Outcome,
    ProduceRules,
    TopicRules,
    Validate,
    ValidationThread,
    ValidBatch,
    may_need_thread,
    outcome_of,
    validated,
)
from barnabas.broker.purgatory import DelayedOperation, Purgatory
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import INTERNAL_TOPICS, BrokerId, TopicPartition
from barnabas.net.close_reasons import CloseReason, ConnectionClosedError
from barnabas.records.validation import OversizedBatchError, RejectedRecordsError
from barnabas.replication.partition import Partition
from barnabas.runtime.clock import Clock
from barnabas.storage.append_info import AppendOrigin
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import decode_request_header
from barnabas.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

_ALLOWED_ACKS = frozenset({-1, 0, 1})
# An enum member is looked up by a slow path of its class; these run for each batch.
_FROM_CLIENT = AppendOrigin.CLIENT
_HINTS_FROM = 10
_IDS_FROM = 13


class ProducePorts(VerificationPorts, Protocol):
    """Parts of the broker that this handler uses."""

    clock: Clock
    produce_purgatory: Purgatory
    produce_rules: ProduceRules
    topic_metrics: TopicMetrics
    validation_thread: ValidationThread


class Unacknowledged(NamedTuple):
    """An append without enough acknowledgements, with its end offset and leader epoch."""

    partition: Partition
    required_offset: int
    leader_epoch: int
    partition_response: PartitionProduceResponse

    def status(self, acks: int) -> ErrorCode | None:
        return self.partition.ack_status(self.required_offset, acks, self.leader_epoch)


Waiting = list[Unacknowledged]


Outcomes = dict[int, Outcome]
"""The validated compressed batches of a request, by the id of their partition data."""


def handle_produce(ctx: HandlerContext[ProducePorts], request: ProduceRequest) -> Result:
    outcomes, large = _validate_compressed(ctx, request)
    if large:
        return _serve_later(ctx, request, outcomes, large)
    return _serve(ctx, request, outcomes)


async def _serve_later(
    ctx: HandlerContext[ProducePorts],
    request: ProduceRequest,
    outcomes: Outcomes,
    large: dict[int, Validate],
) -> AvailableResult:
    for key, validate in large.items():
        outcomes[key] = await ctx.services.validation_thread.run(validate)
    return _serve(ctx, request, outcomes)


def _serve(
    ctx: HandlerContext[ProducePorts], request: ProduceRequest, outcomes: Outcomes
) -> AvailableResult:
    if request.transactional_id is None:
        return _append_all(ctx, request, outcomes, NOT_VERIFIED)
    return VerifiedProduce(ctx, request, partial(_append_all, ctx, request, outcomes)).result()


def _validate_compressed(
    ctx: HandlerContext[ProducePorts], request: ProduceRequest
) -> tuple[Outcomes, dict[int, Validate]]:
    """Returns validated batches, and the validations that need a thread."""
    outcomes: Outcomes = {}
    large: dict[int, Validate] = {}
    for topic in request.topic_data:
        rules: TopicRules | None = None
        for data in topic.partition_data:
            if data.records is None or not may_need_thread(data.records):
                continue
            if rules is None:
                rules = _rules_of(ctx, topic)
                if rules is None:
                    break
            validate = partial(
                validated, rules, ctx.version, data.records, ctx.services.clock.now_ms()
            )
            outcome = outcome_of(partial(validate, on_loop=True))
            if isinstance(outcome, OversizedBatchError):
                large[id(data)] = partial(outcome_of, validate)
            else:
                outcomes[id(data)] = outcome
    return outcomes, large


def _rules_of(ctx: HandlerContext[ProducePorts], topic: TopicProduceData) -> TopicRules | None:
    """Returns the rules of a topic that exists."""
    name = _name_of(ctx, topic)
    if name is None or not ctx.services.metadata.has_topic(name):
        return None
    return ctx.services.produce_rules.of(name)


def _name_of(ctx: HandlerContext[ProducePorts], topic: TopicProduceData) -> str | None:
    if ctx.version >= _IDS_FROM:
        return ctx.services.metadata.topic_name(topic.topic_id)
    return topic.name


def _append_all(
    ctx: HandlerContext[ProducePorts],
    request: ProduceRequest,
    outcomes: Outcomes,
    results: VerificationResults,
) -> AvailableResult:
    waiting: Waiting = []
    append = _Append(ctx, request.acks, outcomes, results)
    response = ProduceResponse(
        [_append_topic(append, topic, waiting) for topic in request.topic_data]
    )
    if ctx.version >= _HINTS_FROM:
        _add_hints(ctx, response)
    if request.acks == 0:
        _close_on_error(response)
        return NO_RESPONSE
    if not waiting:
        return response
    return _wait(ctx, request, response, waiting)


class _Append(NamedTuple):
    """Everything that the appends of one request have in common."""

    ctx: HandlerContext[ProducePorts]
    acks: int
    outcomes: Outcomes
    results: VerificationResults


def _append_topic(
    append: _Append, topic: TopicProduceData, waiting: Waiting
) -> TopicProduceResponse:
    ctx = append.ctx
    name = _name_of(ctx, topic)
    responses = []
    for data in topic.partition_data:
        response = PartitionProduceResponse(data.index, 0, -1, -1, -1)
        responses.append(response)
        try:
            if name is None:
                raise BrokerError(ErrorCode.UNKNOWN_TOPIC_ID)
            unacknowledged = _append(append, TopicPartition(name, data.index), data, response)
            if unacknowledged is not None:
                waiting.append(unacknowledged)
        except BrokerError as error:
            _count_failure(ctx, name, data.records)
            response.error_code = error.code
            response.error_message = error.message
            if isinstance(error, RejectedRecordsError):
                blamed = itertools.starmap(BatchIndexAndErrorMessage, error.problems.items())
                response.record_errors = list(blamed)
        except CorruptRecordError as error:
            _count_failure(ctx, name, data.records)
            response.error_code = ErrorCode.CORRUPT_MESSAGE
            response.error_message = str(error)
    return TopicProduceResponse(topic.name, topic.topic_id, responses)


def _append(
    append: _Append,
    topic_partition: TopicPartition,
    data: PartitionProduceData,
    response: PartitionProduceResponse,
) -> Unacknowledged | None:
    """Appends a batch; returns None if it needs no further acknowledgements."""
    services, acks = append.ctx.services, append.acks
    if acks not in _ALLOWED_ACKS:
        raise BrokerError(ErrorCode.INVALID_REQUIRED_ACKS)
    partition = _led_partition(append.ctx, topic_partition)
    now_ms = services.clock.now_ms()
    batch, header = _validated(append, topic_partition.topic, data, now_ms)
    is_transactional = header.is_transactional
    if is_transactional:
        # Use the flag of the batch, not the field of the request (CVE-2018-17196).
        append.results.check_append(topic_partition, header)
    info = partition.append_to_leader(batch, header, acks=acks, now_ms=now_ms, origin=_FROM_CLIENT)
    if is_transactional:
        append.results.appended(topic_partition, header)
    counters = services.topic_metrics.of(topic_partition.topic)
    counters.total_produce += 1
    counters.messages_in += header.records_count
    counters.bytes_in += len(batch)
    if now_ms >= counters.trace_due_ms:
        counters.find_trace(batch, now_ms)
    response.base_offset = info.first_offset
    response.log_append_time_ms = info.log_append_time_ms
    response.log_start_offset = info.log_start_offset
    if not acks:
        return None
    required_offset, leader_epoch = info.last_offset + 1, partition.leader_epoch
    status = partition.ack_status(required_offset, acks, leader_epoch)
    if status is None:
        return Unacknowledged(partition, required_offset, leader_epoch, response)
    response.error_code = status
    return None


def _count_failure(
    ctx: HandlerContext[ProducePorts], topic: str | None, records: memoryview | None
) -> None:
    """Counts a failed append, if the topic exists: clients must not create labels."""
    if topic is not None and ctx.services.metadata.has_topic(topic):
        counters = ctx.services.topic_metrics.of(topic)
        counters.total_produce += 1
        counters.failed_produce += 1
        counters.bytes_rejected += len(records or b"")


def _validated(append: _Append, topic: str, data: PartitionProduceData, now_ms: int) -> ValidBatch:
    """Returns the batch in its stored form, and its header."""
    outcome = append.outcomes.get(id(data))
    if outcome is None:
        records = memoryview(b"") if data.records is None else data.records
        rules = append.ctx.services.produce_rules.of(topic)
        return validated(rules, append.ctx.version, records, now_ms)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _led_partition(ctx: HandlerContext[ProducePorts], topic_partition: TopicPartition) -> Partition:
    """Returns the partition if clients may write to it on this broker.

    Checks are made in Kafka's order. Leadership is checked before the records and their
    transaction: a client looks up the new leader only after NOT_LEADER_OR_FOLLOWER.
    """
    partition = ctx.services.replicas.partition(topic_partition)
    if partition is None and ctx.services.metadata.partition(topic_partition) is None:
        raise BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if topic_partition.topic in INTERNAL_TOPICS:
        raise BrokerError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"clients may not write to the internal topic {topic_partition.topic}",
        )
    if partition is None or not partition.is_leader:
        raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return partition


def _close_on_error(response: ProduceResponse) -> None:
    for topic in response.responses:
        for partition_response in topic.partition_responses:
            if partition_response.error_code:
                name = ErrorCode(partition_response.error_code).name
                raise ConnectionClosedError(
                    CloseReason.FAILED_UNACKNOWLEDGED, f"produce with acks=0 failed with {name}"
                )


def _add_hints(ctx: HandlerContext[ProducePorts], response: ProduceResponse) -> None:
    leaders: set[BrokerId] = set()
    for topic in response.responses:
        for partition_response in topic.partition_responses:
            if partition_response.error_code == 0:
                continue
            name = topic.name or ctx.services.metadata.topic_name(topic.topic_id) or ""
            state = leader_hint(
                ctx, partition_response.error_code, TopicPartition(name, partition_response.index)
            )
            if state is not None:
                leaders.add(state.leader)
                partition_response.current_leader = LeaderIdAndEpoch(
                    state.leader, state.leader_epoch
                )
    if leaders:
        response.node_endpoints = node_endpoints(ctx, leaders, NodeEndpoint)


class DelayedProduce(DelayedOperation):
    """Waits until every append is acknowledged by enough replicas or has failed."""

    __slots__ = ("_acks", "_deferred", "_response", "_waiting")

    def __init__(
        self, deferred: Deferred, response: ProduceResponse, waiting: Waiting, acks: int
    ) -> None:
        super().__init__()
        self._deferred = deferred
        self._response = response
        self._waiting = waiting
        self._acks = acks

    def try_complete(self, _changed: object) -> bool:
        still: Waiting = []
        for append in self._waiting:
            status = append.status(self._acks)
            if status is None:
                still.append(append)
            else:
                append.partition_response.error_code = status
        self._waiting = still
        return not still

    def finish(self, *, expired: bool) -> None:
        for append in self._waiting:  # the records stay in the log
            append.partition_response.error_code = ErrorCode.REQUEST_TIMED_OUT
        self._deferred.respond(self._response)


def _wait(
    ctx: HandlerContext[ProducePorts],
    request: ProduceRequest,
    response: ProduceResponse,
    waiting: Waiting,
) -> Deferred:
    # The appends are complete, so the next request of the connection can be served.
    deferred = ctx.defer(pipelined=True)
    operation = DelayedProduce(deferred, response, waiting, request.acks)
    ctx.services.produce_purgatory.watch(
        operation, [append.partition for append in waiting], max(request.timeout_ms, 0)
    )
    return deferred


def _failed_append(
    ctx: HandlerContext[ProducePorts], frame: memoryview, error: BrokerError
) -> ProduceResponse:
    """Returns the response to a request of one batch whose append has failed."""
    header, offset = decode_request_header(frame)
    request = ProduceRequest.decode(frame, header.api_version, offset)
    topic = request.topic_data[0]
    data = topic.partition_data[0]
    _count_failure(ctx, _name_of(ctx, topic), data.records)
    partition_response = PartitionProduceResponse(data.index, error.code, -1, -1, -1)
    partition_response.error_message = error.message
    response = ProduceResponse(
        [TopicProduceResponse(topic.name, topic.topic_id, [partition_response])]
    )
    if ctx.version >= _HINTS_FROM:
        _add_hints(ctx, response)
    return response


HANDLERS = (
    ApiHandler(
        ApiKey.PRODUCE,
        (3, 13),
        handle_produce,
        advertised_min=0,
        short=serve_single,
        short_failed=_failed_append,
    ),
)
