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
from barnabas.broker.handler import (
    NO_RESPONSE,
    ApiHandler,
    Deferred,
    HandlerContext,
    Result,
)
from barnabas.broker.leader_hints import leader_hint, node_endpoints
from barnabas.broker.produce_rules import ProduceRules
from barnabas.broker.purgatory import DelayedOperation, Purgatory
from barnabas.model.clock import Clock
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import BrokerId, TopicPartition
from barnabas.model.topic_names import INTERNAL_TOPICS
from barnabas.net.refusal import ConnectionClosedError, Refusal
from barnabas.records.batch import BatchHeader
from barnabas.records.errors import RefusedRecordsError
from barnabas.records.rewrite import recompress
from barnabas.records.validation import validate_batch
from barnabas.replication.partition import Partition
from barnabas.storage.append_info import AppendOrigin
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)

_ALLOWED_ACKS = frozenset({-1, 0, 1})
_HINTS_FROM = 10
_IDS_FROM = 13


class Ports(VerificationPorts, Protocol):
    """Parts of the broker that this handler uses."""

    clock: Clock
    produce_purgatory: Purgatory
    produce_rules: ProduceRules


class Unacknowledged(NamedTuple):
    """An append without enough acknowledgements, with its end offset and leader epoch."""

    partition: Partition
    required_offset: int
    leader_epoch: int
    answer: PartitionProduceResponse

    def status(self, acks: int) -> ErrorCode | None:
        return self.partition.ack_status(self.required_offset, acks, self.leader_epoch)


Waiting = list[Unacknowledged]


def handle_produce(ctx: HandlerContext[Ports], request: ProduceRequest) -> Result:
    if request.transactional_id is None:
        return _serve(ctx, request, NOT_VERIFIED)
    return VerifiedProduce(ctx, request, partial(_serve, ctx, request)).result()


def _serve(
    ctx: HandlerContext[Ports], request: ProduceRequest, results: VerificationResults
) -> Result:
    waiting: Waiting = []
    response = ProduceResponse(
        [_append_topic(ctx, request, topic, results, waiting) for topic in request.topic_data]
    )
    if ctx.version >= _HINTS_FROM:
        _add_hints(ctx, response)
    if request.acks == 0:
        _close_on_error(response)
        return NO_RESPONSE
    if not waiting:
        return response
    return _wait(ctx, request, response, waiting)


def _append_topic(
    ctx: HandlerContext[Ports],
    request: ProduceRequest,
    topic: TopicProduceData,
    results: VerificationResults,
    waiting: Waiting,
) -> TopicProduceResponse:
    name: str | None = topic.name
    if ctx.version >= _IDS_FROM:
        name = ctx.services.metadata.topic_name(topic.topic_id)
    answers = []
    for data in topic.partition_data:
        answer = PartitionProduceResponse(data.index, 0, -1, -1, -1)
        answers.append(answer)
        try:
            if name is None:
                raise BrokerError(ErrorCode.UNKNOWN_TOPIC_ID)
            place = TopicPartition(name, data.index)
            unacknowledged = _append(ctx, request, place, data.records, answer, results)
            if unacknowledged is not None:
                waiting.append(unacknowledged)
        except BrokerError as error:
            answer.error_code = error.code
            answer.error_message = error.message
            if isinstance(error, RefusedRecordsError):
                blamed = itertools.starmap(BatchIndexAndErrorMessage, error.problems.items())
                answer.record_errors = list(blamed)
        except CorruptRecordError as error:
            answer.error_code = ErrorCode.CORRUPT_MESSAGE
            answer.error_message = str(error)
    return TopicProduceResponse(topic.name, topic.topic_id, answers)


def _append(
    ctx: HandlerContext[Ports],
    request: ProduceRequest,
    topic_partition: TopicPartition,
    records: memoryview | None,
    answer: PartitionProduceResponse,
    results: VerificationResults,
) -> Unacknowledged | None:
    """Appends a batch; returns None if it needs no further acknowledgements."""
    services = ctx.services
    if request.acks not in _ALLOWED_ACKS:
        raise BrokerError(ErrorCode.INVALID_REQUIRED_ACKS)
    partition = _led_partition(ctx, topic_partition)
    now_ms = services.clock.now_ms()
    batch, header = _validated(ctx, topic_partition.topic, records, now_ms)
    if header.is_transactional:
        # Use the flag of the batch, not the field of the request (CVE-2018-17196).
        results.check_append(topic_partition, header)
    info = partition.append_to_leader(
        batch, header, acks=request.acks, now_ms=now_ms, origin=AppendOrigin.CLIENT
    )
    if header.is_transactional:
        results.appended(topic_partition, header)
    answer.base_offset = info.first_offset
    answer.log_append_time_ms = info.log_append_time_ms
    answer.log_start_offset = info.log_start_offset
    if not request.acks:
        return None
    unacknowledged = Unacknowledged(partition, info.last_offset + 1, partition.leader_epoch, answer)
    status = unacknowledged.status(request.acks)
    if status is None:
        return unacknowledged
    answer.error_code = status
    return None


def _validated(
    ctx: HandlerContext[Ports], topic: str, records: memoryview | None, now_ms: int
) -> tuple[memoryview | bytearray, BatchHeader]:
    """Returns the batch in its stored form, and its header."""
    rules = ctx.services.produce_rules.of(topic)
    batch = memoryview(b"") if records is None else records
    header = validate_batch(batch, rules.of_version(ctx.version), now_ms=now_ms)
    if rules.codec is None or rules.codec == header.codec:
        return batch, header
    most = rules.current.max_decompressed
    packed = recompress(batch, rules.codec, rules.level, max_decompressed=most)
    return packed, validate_batch(packed, rules.repacked)


def _led_partition(ctx: HandlerContext[Ports], topic_partition: TopicPartition) -> Partition:
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
        for answer in topic.partition_responses:
            if answer.error_code:
                name = ErrorCode(answer.error_code).name
                raise ConnectionClosedError(
                    Refusal.FAILED_UNACKNOWLEDGED, f"produce with acks=0 failed with {name}"
                )


def _add_hints(ctx: HandlerContext[Ports], response: ProduceResponse) -> None:
    leaders: set[BrokerId] = set()
    for topic in response.responses:
        for answer in topic.partition_responses:
            if answer.error_code == 0:
                continue
            name = topic.name or ctx.services.metadata.topic_name(topic.topic_id) or ""
            state = leader_hint(ctx, answer.error_code, TopicPartition(name, answer.index))
            if state is not None:
                leaders.add(state.leader)
                answer.current_leader = LeaderIdAndEpoch(state.leader, state.leader_epoch)
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

    def try_complete(self) -> bool:
        still: Waiting = []
        for append in self._waiting:
            status = append.status(self._acks)
            if status is None:
                still.append(append)
            else:
                append.answer.error_code = status
        self._waiting = still
        return not still

    def finish(self, *, expired: bool) -> None:
        for append in self._waiting:  # the records stay in the log
            append.answer.error_code = ErrorCode.REQUEST_TIMED_OUT
        self._deferred.respond(self._response)


def _wait(
    ctx: HandlerContext[Ports], request: ProduceRequest, response: ProduceResponse, waiting: Waiting
) -> Deferred:
    # The appends are complete, so the next request of the connection can be served.
    deferred = ctx.defer(pipelined=True)
    operation = DelayedProduce(deferred, response, waiting, request.acks)
    ctx.services.produce_purgatory.watch(
        operation, [append.partition for append in waiting], max(request.timeout_ms, 0)
    )
    return deferred


HANDLER = ApiHandler(ApiKey.PRODUCE, (3, 13), handle_produce, advertised_min=0)
