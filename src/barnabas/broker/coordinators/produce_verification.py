"""Verification of a produce request: which of its transactional batches may be appended.

Most requests get their response in the same callback of the loop: the transaction already has
records in the partition, or this broker is the coordinator and commits at once. Otherwise the
request and its connection wait for the response of the coordinator.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, cast

from barnabas.broker.coordinators.verification import TransactionalBatch, Verifications
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.handler import (
    AvailableResult,
    Deferred,
    HandlerContext,
    NoResponse,
    RequestPorts,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.net.close_reasons import ConnectionClosedError
from barnabas.records.batch import BatchHeader, parse_header
from barnabas.replication.replica_manager import ReplicaManager
from barnabas.transactions.partition_leader import VerificationToken
from barnabas.transactions.requests import IMPLICIT_ADD_SINCE, AddPartitions, verification_error
from barnabas.wire.message import Message
from barnabas.wire.messages.produce import ProduceRequest

_API = "Produce"
_IDS_FROM = 13


class VerificationPorts(RequestPorts, Protocol):
    """Parts of the broker that the verification of a produce request uses."""

    coordinators: Coordinators
    replicas: ReplicaManager


class VerificationResults:
    """The verification results of the transactional batches of one request."""

    __slots__ = ("_errors", "_tokens", "_verifications")

    def __init__(self, verifications: "Verifications | None") -> None:
        self._verifications = verifications
        self._tokens: dict[TopicPartition, VerificationToken] = {}
        self._errors: dict[TopicPartition, ErrorCode] = {}

    def begin(self, attempt: TransactionalBatch) -> bool:
        """Starts a verification; returns whether the coordinator must confirm this batch."""
        if self._verifications is None:
            return False
        token = self._verifications.begin(attempt)
        if token is not None:
            self._tokens[attempt.topic_partition] = token
        return token is not None

    def reject(self, errors: Mapping[TopicPartition, ErrorCode]) -> None:
        self._errors.update(errors)

    def check_append(self, topic_partition: TopicPartition, header: BatchHeader) -> None:
        """Raises BrokerError unless this transactional batch may be appended now."""
        if self._verifications is None:
            raise BrokerError(
                ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
                "a transactional batch in a request without transactional id",
            )
        code = self._errors.get(topic_partition, ErrorCode.NONE)
        if code is not ErrorCode.NONE:
            raise BrokerError(code)
        self._verifications.check_append(
            _attempt(topic_partition, header), self._tokens.get(topic_partition)
        )

    def appended(self, topic_partition: TopicPartition, header: BatchHeader) -> None:
        if self._verifications is not None:
            self._verifications.appended(topic_partition, header.producer_id)


NOT_VERIFIED = VerificationResults(None)
"""For requests without transactional id, whose batches must not be transactional."""

Serve = Callable[[VerificationResults], AvailableResult]


class VerifiedProduce:
    """One produce request of a transactional producer: verified first, then served."""

    def __init__(
        self, ctx: HandlerContext[VerificationPorts], request: ProduceRequest, serve: Serve
    ) -> None:
        self._ctx = ctx
        self._request = request
        self._serve = serve
        self._results = VerificationResults(ctx.services.coordinators.verifications)
        self._pending_requests = 0
        self._deferred: Deferred | None = None

    def result(self) -> AvailableResult:
        """Returns the result of the handler: the response if no verification had to wait."""
        requests = self._add_partitions_requests()
        self._pending_requests = len(requests)
        for request in requests:
            self._ctx.services.coordinators.add_partitions.add_or_verify(request, self._on_verified)
        if self._pending_requests == 0:
            return self._serve(self._results)
        self._deferred = self._ctx.defer()
        return self._deferred

    def _on_verified(self, errors: Mapping[TopicPartition, ErrorCode]) -> None:
        version = self._ctx.version
        self._results.reject(
            {
                topic_partition: verification_error(_API, version, code)
                for topic_partition, code in errors.items()
            }
        )
        self._pending_requests -= 1
        if self._pending_requests == 0 and self._deferred is not None:
            self._serve_deferred(self._deferred)

    def _serve_deferred(self, deferred: Deferred) -> None:
        try:
            result = self._serve(self._results)
        except ConnectionClosedError as closed:  # acks=0 and a failure
            self._ctx.connection.close_with_reason(closed.reason, closed.detail)
            return
        if isinstance(result, Deferred):
            result.when_ready(lambda: deferred.complete(result.parts))
        elif isinstance(result, NoResponse):
            deferred.complete(None)
        else:
            deferred.respond(cast(Message, result))

    def _add_partitions_requests(self) -> list[AddPartitions]:
        """Returns one request per producer; a produce request normally has one producer."""
        implicit = self._ctx.version >= IMPLICIT_ADD_SINCE[_API]
        by_producer: dict[tuple[int, int], set[TopicPartition]] = {}
        for attempt in self._attempts():
            if self._results.begin(attempt):
                producer = attempt.producer_id, attempt.producer_epoch
                by_producer.setdefault(producer, set()).add(attempt.topic_partition)
        return [
            AddPartitions(
                self._request.transactional_id or "",
                *producer,
                frozenset(topic_partitions),
                verify_only=not implicit,
                transaction_version=2 if implicit else 0,
            )
            for producer, topic_partitions in by_producer.items()
        ]

    def _attempts(self) -> list[TransactionalBatch]:
        """Returns the transactional batches for partitions that this broker leads.

        Other partitions are rejected now, although the append checks leadership again: this broker
        may become their leader while the coordinator verifies the others.
        """
        services = self._ctx.services
        attempts = []
        for topic in self._request.topic_data:
            name: str | None = topic.name
            if self._ctx.version >= _IDS_FROM:
                name = services.metadata.topic_name(topic.topic_id)
            if name is None:
                continue
            for data in topic.partition_data:
                topic_partition = TopicPartition(name, data.index)
                partition = services.replicas.partition(topic_partition)
                header = _header(data.records)
                if header is None:
                    continue
                if partition is not None and partition.is_leader:
                    attempts.append(_attempt(topic_partition, header))
                else:
                    self._results.reject({topic_partition: ErrorCode.NOT_LEADER_OR_FOLLOWER})
        return attempts


def _attempt(topic_partition: TopicPartition, header: BatchHeader) -> TransactionalBatch:
    return TransactionalBatch(
        topic_partition, header.producer_id, header.producer_epoch, header.base_sequence
    )


def _header(records: memoryview | None) -> BatchHeader | None:
    """Returns the header of a transactional batch, otherwise None."""
    try:
        header = parse_header(records) if records is not None else None
    except CorruptRecordError:
        return None
    return header if header is not None and header.is_transactional else None
