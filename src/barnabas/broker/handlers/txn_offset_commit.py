"""TxnOffsetCommit: stores offsets that become visible when the transaction commits.

v2 leader epochs; v3 flexible, member and generation (KIP-447); v4 an error for transactions that
can only be aborted; v5 this request adds the group's partition to the transaction (KIP-890).

As for Produce, the first commit of a transaction is verified with the transaction coordinator.
"""

from collections.abc import Mapping
from typing import Protocol

from barnabas.broker.coordinators.group_coordinator import GroupCoordinator
from barnabas.broker.coordinators.internal_topics import InternalTopics
from barnabas.broker.coordinators.responses import PendingResponse
from barnabas.broker.coordinators.verification import TransactionalBatch
from barnabas.broker.coordinators.wiring import Coordinators
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.coordination import coordinator_error
from barnabas.groups.requests import OffsetCommitReply, OffsetToCommit, TxnOffsetCommitRequest
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import OFFSETS_TOPIC, TopicPartition
from barnabas.model.records import NO_SEQUENCE
from barnabas.transactions.partition_leader import VerificationToken
from barnabas.transactions.requests import IMPLICIT_ADD_SINCE, AddPartitions, verification_error
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest as WireRequest,
)
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

_API = "TxnOffsetCommit"


class TxnOffsetCommitPorts(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    coordinators: Coordinators
    groups: GroupCoordinator
    internal_topics: InternalTopics


def handle_txn_offset_commit(
    ctx: HandlerContext[TxnOffsetCommitPorts], request: WireRequest
) -> Result:
    return _TxnOffsetCommit(ctx, request).result()


class _TxnOffsetCommit:
    """One commit: verifies the transaction, then stores the offsets."""

    def __init__(self, ctx: HandlerContext[TxnOffsetCommitPorts], request: WireRequest) -> None:
        self._ctx = ctx
        self._request = request
        self._pending_response: PendingResponse[OffsetCommitReply] = PendingResponse(
            ctx, self._response, self._failed
        )
        self._attempt = TransactionalBatch(
            ctx.services.internal_topics.partition_of(OFFSETS_TOPIC, request.group_id),
            request.producer_id,
            request.producer_epoch,
            NO_SEQUENCE,
        )

    def result(self) -> Result:
        try:
            self._begin()
        except BrokerError as error:
            self._pending_response.fail(error.code)
        return self._pending_response.result()

    def _begin(self) -> None:
        services, request = self._ctx.services, self._request
        if not request.group_id:
            raise BrokerError(ErrorCode.INVALID_GROUP_ID)
        services.groups.shard_of(request.group_id)  # raises NOT_COORDINATOR on other brokers
        token = services.coordinators.verifications.begin(self._attempt)
        if token is None:
            self._commit(None)
            return
        implicit = self._ctx.version >= IMPLICIT_ADD_SINCE[_API]
        adding = AddPartitions(
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            frozenset({self._attempt.topic_partition}),
            verify_only=not implicit,
            transaction_version=2 if implicit else 0,
        )

        def on_results(errors: Mapping[TopicPartition, ErrorCode]) -> None:
            self._verified(token, errors[self._attempt.topic_partition])

        services.coordinators.add_partitions.add_or_verify(adding, on_results)

    def _verified(self, token: VerificationToken, code: ErrorCode) -> None:
        if code is not ErrorCode.NONE:
            self._pending_response.fail(verification_error(_API, self._ctx.version, code))
            return
        try:
            self._commit(token)
        except BrokerError as error:
            self._pending_response.fail(coordinator_error(error.code))

    def _commit(self, token: VerificationToken | None) -> None:
        coordinators = self._ctx.services.coordinators
        known_epoch = coordinators.producers.epoch(
            self._attempt.topic_partition, self._attempt.producer_id
        )
        if self._attempt.producer_epoch < known_epoch:
            raise BrokerError(ErrorCode.INVALID_PRODUCER_EPOCH)
        coordinators.verifications.check_append(self._attempt, token)
        committing = self._translate()
        driver = coordinators.groups.shard_of(self._request.group_id)
        driver.run(
            lambda shard, now_ms: shard.commit_txn_offsets(committing, now_ms),
            self._pending_response,
        )
        if coordinators.producers.transaction_open(*self._attempt[:3]):
            coordinators.verifications.appended(
                self._attempt.topic_partition, self._attempt.producer_id
            )

    def _translate(self) -> TxnOffsetCommitRequest:
        request, metadata = self._request, self._ctx.services.metadata
        offsets = tuple(
            OffsetToCommit(
                topic.name,
                one.partition_index,
                one.committed_offset,
                one.committed_leader_epoch,
                one.committed_metadata,
            )
            for topic in request.topics
            for one in topic.partitions
            if metadata.partition(TopicPartition(topic.name, one.partition_index)) is not None
        )
        return TxnOffsetCommitRequest(
            request.group_id,
            request.transactional_id,
            request.producer_id,
            request.producer_epoch,
            offsets,
            request.generation_id,
            request.member_id,
            request.group_instance_id,
        )

    # --- responses ---

    def _response(self, reply: OffsetCommitReply) -> TxnOffsetCommitResponse:
        return self._respond(dict(reply.partitions), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def _failed(self, code: ErrorCode) -> TxnOffsetCommitResponse:
        return self._respond({}, code)

    def _respond(
        self, errors: Mapping[TopicPartition, ErrorCode], other: ErrorCode
    ) -> TxnOffsetCommitResponse:
        return TxnOffsetCommitResponse(
            topics=[
                TxnOffsetCommitResponseTopic(
                    topic.name,
                    [
                        TxnOffsetCommitResponsePartition(
                            one.partition_index,
                            errors.get(TopicPartition(topic.name, one.partition_index), other),
                        )
                        for one in topic.partitions
                    ],
                )
                for topic in self._request.topics
            ]
        )


HANDLERS = (ApiHandler(ApiKey.TXN_OFFSET_COMMIT, (0, 5), handle_txn_offset_commit),)
