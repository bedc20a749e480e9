"""Authorization of requests about transactional ids, and of requests that end transactions."""

from collections.abc import Iterable

from barnabas.broker.access.access import Access, needs_cluster
from barnabas.broker.handler import Handle, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.security.acl import Operation
from barnabas.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from barnabas.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from barnabas.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from barnabas.wire.messages.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

_DENIED = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
_BATCHED_FROM = 4


def authorize_init_producer_id(
    access: Access, ctx: RequestContext, request: InitProducerIdRequest, serve: Handle
) -> Result:
    if request.transactional_id is not None:
        if not access.transactional_id(Operation.WRITE, request.transactional_id):
            return InitProducerIdResponse(error_code=_DENIED, producer_epoch=-1)
    elif not access.cluster(Operation.IDEMPOTENT_WRITE) and not access.some_topic(Operation.WRITE):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return InitProducerIdResponse(error_code=code, producer_epoch=-1)
    return serve(ctx, request)


def authorize_add_partitions_to_txn(
    access: Access, ctx: RequestContext, request: AddPartitionsToTxnRequest, serve: Handle
) -> Result:
    if ctx.version >= _BATCHED_FROM:
        if access.cluster(Operation.CLUSTER_ACTION):
            return serve(ctx, request)
        return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    topics = request.v3_and_below_topics
    if not access.transactional_id(Operation.WRITE, request.v3_and_below_transactional_id):
        return _not_added(topics, frozenset(), _DENIED)
    allowed = access.topics(Operation.WRITE, [topic.name for topic in topics])
    if all(topic.name in allowed for topic in topics):
        return serve(ctx, request)
    return _not_added(topics, allowed, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _not_added(
    topics: Iterable[AddPartitionsToTxnTopic], allowed: frozenset[str], code: ErrorCode
) -> AddPartitionsToTxnResponse:
    """Returns the response if a partition is denied: none of the others is added either."""
    results = []
    for topic in topics:
        own = ErrorCode.OPERATION_NOT_ATTEMPTED if topic.name in allowed else code
        partitions = [AddPartitionsToTxnPartitionResult(n, own) for n in topic.partitions]
        results.append(AddPartitionsToTxnTopicResult(topic.name, partitions))
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)


def authorize_add_offsets_to_txn(
    access: Access, ctx: RequestContext, request: AddOffsetsToTxnRequest, serve: Handle
) -> Result:
    if not access.transactional_id(Operation.WRITE, request.transactional_id):
        return AddOffsetsToTxnResponse(error_code=_DENIED)
    if not access.group(Operation.READ, request.group_id):
        return AddOffsetsToTxnResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    return serve(ctx, request)


def authorize_end_txn(
    access: Access, ctx: RequestContext, request: EndTxnRequest, serve: Handle
) -> Result:
    if access.transactional_id(Operation.WRITE, request.transactional_id):
        return serve(ctx, request)
    return EndTxnResponse(error_code=_DENIED)


def authorize_describe_transactions(
    access: Access, ctx: RequestContext, request: DescribeTransactionsRequest, serve: Handle
) -> Result:
    requested = request.transactional_ids
    allowed = [name for name in requested if access.transactional_id(Operation.DESCRIBE, name)]
    request.transactional_ids = allowed

    def amend(response: DescribeTransactionsResponse) -> DescribeTransactionsResponse:
        for state in response.transaction_states:
            state.topics = [
                item for item in state.topics if access.topic(Operation.DESCRIBE, item.topic)
            ]
        response.transaction_states += [
            TransactionState(_DENIED, name) for name in requested if name not in allowed
        ]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def authorize_list_transactions(
    access: Access, ctx: RequestContext, request: ListTransactionsRequest, serve: Handle
) -> Result:
    def amend(response: ListTransactionsResponse) -> ListTransactionsResponse:
        response.transaction_states = [
            state
            for state in response.transaction_states
            if access.transactional_id(Operation.DESCRIBE, state.transactional_id)
        ]
        return response

    ctx.amend_with(amend)
    return serve(ctx, request)


def _no_markers(_: RequestContext, request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return WriteTxnMarkersResponse(
        [
            WritableTxnMarkerResult(
                marker.producer_id,
                [
                    WritableTxnMarkerTopicResult(
                        topic.name,
                        [
                            WritableTxnMarkerPartitionResult(number, code)
                            for number in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in request.markers
        ]
    )


authorize_write_txn_markers = needs_cluster(_no_markers, Operation.CLUSTER_ACTION, Operation.ALTER)
"""Of coordinators; an administrator who ends a hanging transaction needs Alter (KIP-664)."""
