import pytest

from barnabas.admin import FencedProducer, HangingTransaction
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages import describe_producers as producers
from barnabas.wire.messages import describe_transactions as describing
from barnabas.wire.messages import write_txn_markers as markers
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)

T0 = TopicPartition("t", 0)


async def test_every_coordinator_lists_its_own(cluster, admin):
    cluster.on(
        ListTransactionsRequest,
        lambda node, request: ListTransactionsResponse(
            transaction_states=[TransactionState(f"id-{9 - node}", node, "Ongoing")]
        ),
    )
    listings = await admin.list_transactions(states=["Ongoing"], running_longer_than=1.5)
    assert [(each.transactional_id, each.coordinator) for each in listings] == [
        ("id-6", 3),
        ("id-7", 2),
        ("id-8", 1),
    ]
    _, request = cluster.asked(ListTransactionsRequest)[0]
    assert (request.state_filters, request.duration_filter) == (["Ongoing"], 1500)


async def test_transactions_are_described_by_their_coordinators(cluster, admin):
    cluster.coordinators = {"a": 2, "b": 3}

    def answer(node, request):
        states = [
            describing.TransactionState(
                error_code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND if name == "b" else 0,
                transactional_id=name,
                transaction_state="Ongoing",
                transaction_timeout_ms=60_000,
                transaction_start_time_ms=-1,
                producer_id=4,
                producer_epoch=5,
                topics=[describing.TopicData("t", [0])],
            )
            for name in request.transactional_ids
        ]
        return describing.DescribeTransactionsResponse(transaction_states=states)

    cluster.on(describing.DescribeTransactionsRequest, answer)
    results = await admin.describe_transactions(["a", "b"])
    described = results["a"]
    assert (described.coordinator, described.state, described.partitions) == (2, "Ongoing", (T0,))
    assert described.started_ms is None
    assert results.errors["b"].code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def remembered(node, request):
    state = producers.ProducerState(node, 2, 3, 4, -1, 6)
    partition = producers.PartitionResponse(partition_index=0, active_producers=[state])
    return producers.DescribeProducersResponse(
        topics=[producers.TopicResponse(name="t", partitions=[partition])]
    )


async def test_producers_by_leader_or_by_one_broker(cluster, admin):
    cluster.topics["t"] = [2]
    cluster.on(producers.DescribeProducersRequest, remembered)
    (producer,) = (await admin.describe_producers([T0]))[T0]
    assert (producer.producer_id, producer.transaction_start_offset) == (2, 6)
    assert producer.coordinator_epoch is None
    (producer,) = (await admin.describe_producers([T0], broker=3))[T0]
    assert producer.producer_id == 3


@pytest.mark.parametrize("code", [ErrorCode.NONE, ErrorCode.INVALID_PRODUCER_EPOCH])
async def test_a_hanging_transaction_is_aborted_at_its_leader(cluster, admin, code):
    cluster.topics["t"] = [3]
    result = markers.WritableTxnMarkerTopicResult(
        name="t", partitions=[markers.WritableTxnMarkerPartitionResult(0, code)]
    )
    cluster.on(
        markers.WriteTxnMarkersRequest,
        markers.WriteTxnMarkersResponse(markers=[markers.WritableTxnMarkerResult(7, [result])]),
    )
    hanging = HangingTransaction(T0, producer_id=7, producer_epoch=2, coordinator_epoch=9)
    if code is ErrorCode.NONE:
        await admin.abort_transaction(hanging)
    else:
        with pytest.raises(BrokerError, match="INVALID_PRODUCER_EPOCH"):
            await admin.abort_transaction(hanging)
    ((node, request),) = cluster.asked(markers.WriteTxnMarkersRequest)
    (marker,) = request.markers
    assert (node, marker.transaction_result) == (3, False)
    assert (marker.producer_id, marker.producer_epoch, marker.coordinator_epoch) == (7, 2, 9)


async def test_fencing_waits_for_a_transaction_being_ended(cluster, admin):
    codes = iter([ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.NONE])
    cluster.on(
        InitProducerIdRequest,
        lambda *_: InitProducerIdResponse(error_code=next(codes), producer_id=7, producer_epoch=3),
    )
    results = await admin.fence_producers(["a"])
    assert results["a"] == FencedProducer(7, 3)
    assert cluster.asked(InitProducerIdRequest)[0][1].transactional_id == "a"
