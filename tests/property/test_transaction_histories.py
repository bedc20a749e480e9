"""Histories that once broke Kafka: each fails without its guard and passes with it."""

from typing import Any

import pytest
from support.transactions.harness import P0, P1, Harness
from support.transactions.partition import Batch, ModelPartition

from barnabas.coordination import SendMarkers
from barnabas.model.error_codes import ErrorCode as E
from barnabas.transactions.requests import TransactionGuards


def write_markers(partitions: dict[Any, ModelPartition], send: SendMarkers) -> None:
    for name in send.partitions:
        partitions[name].write_marker(send, 0)


def make_partitions(*, verify: bool = True) -> dict[Any, ModelPartition]:
    return {name: ModelPartition(name, verify=verify) for name in (P0, P1)}


def produce(h: Harness, partition: ModelPartition, producer: Any, sequence: int, value: str) -> E:
    """A transactional produce of version 12: the leader adds the partition, then appends."""
    batch = Batch(producer.producer_id, producer.producer_epoch, sequence, value)
    token = partition.verification.begin(
        batch.producer_id,
        batch.producer_epoch,
        sequence,
        transaction_open=partition.transaction_open(batch),
        now_ms=h.now_ms,
    )
    if token is not None:
        error: E = h.add(producer, partition.topic_partition).partitions[partition.topic_partition]
        if error:
            return error
    return partition.append(batch, token)


@pytest.mark.parametrize("guarded", [True, False])
def test_kafka_17754_late_end_txn(guarded: bool) -> None:
    """An EndTxn held up in the network arrives in the middle of the next transaction."""
    h = Harness(guards=TransactionGuards(end_txn_bound_to_epoch=guarded))
    partitions = make_partitions()
    first = h.init()
    produce(h, partitions[P0], first, 0, "a1")
    # The client sends EndTxn(commit) twice: one copy is held up, the other is answered.
    second = h.end(first, commit=True)
    write_markers(partitions, h.sent[0])
    h.markers_ok()
    produce(h, partitions[P0], second, 0, "b1")
    late = h.end(first, commit=True)
    for send in h.sent:
        write_markers(partitions, send)
    torn = "b1" in partitions[P0].read_committed()
    assert torn is not guarded
    if guarded:
        assert late.error is E.PRODUCER_FENCED
        assert h.state == "Ongoing"


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("version", [0, 2])
def test_kafka_12671_late_produce(guarded: bool, version: int) -> None:
    """A Produce request delayed until after the abort opens a transaction that never ends."""
    h = Harness()
    partition = ModelPartition(P0, verify=guarded)
    producer = h.init()
    h.add(producer, P0, version=version)
    late = Batch(producer.producer_id, producer.producer_epoch, 0, "late")
    h.end(producer, commit=False, version=version)
    # The partition saw no data, and this leader learnt of no marker either: it lost the epoch
    # with its state, or the marker was written before the partition expired the producer.
    h.markers_ok()
    assert h.state == "CompleteAbort"
    token = partition.verification.begin(
        late.producer_id, late.producer_epoch, 0, transaction_open=False, now_ms=0
    )
    if token is None:
        partition.append(late, None)
    else:
        verdict = h.add(producer, P0, version=version, verify=True).partitions[P0]
        assert verdict in (E.TRANSACTION_ABORTABLE, E.PRODUCER_FENCED)
    stuck = partition.last_stable_offset < len(partition.log)
    assert stuck is not guarded


def test_kafka_14884_marker_between_verification_and_append() -> None:
    """The coordinator said yes, then the transaction was aborted, then the append would come."""
    h = Harness()
    partition = ModelPartition(P0)
    producer = h.init()
    h.add(producer, P0, version=0)
    batch = Batch(producer.producer_id, producer.producer_epoch, 0, "late")
    token = partition.verification.begin(
        batch.producer_id, batch.producer_epoch, 0, transaction_open=False, now_ms=0
    )
    assert h.add(producer, P0, version=0, verify=True).partitions == {P0: E.NONE}
    h.end(producer, commit=False, version=0)
    partition.write_marker(h.sent[0], 0)
    assert partition.append(batch, token) is E.INVALID_TXN_STATE
    assert partition.last_stable_offset == len(partition.log)


@pytest.mark.parametrize("guarded", [True, False])
def test_kafka_9777_marker_result_of_another_transaction(guarded: bool) -> None:
    """A repeated marker response of one transaction completes the next without its marker."""
    h = Harness(guards=TransactionGuards(marker_results_bound_to_transaction=guarded))
    partitions = make_partitions()
    first = h.init()
    for name in (P0, P1):
        produce(h, partitions[name], first, 0, "a")
    second = h.end(first)
    (old,) = h.sent
    write_markers(partitions, old)
    h.markers_ok()
    for name in (P0, P1):
        produce(h, partitions[name], second, 0, "b")
    h.end(second)
    h.answer(old)
    completed_early = h.state == "CompleteCommit"
    assert completed_early is not guarded
    if not completed_early:
        write_markers(partitions, h.sent[0])
        h.markers_ok()
    stuck = any(p.last_stable_offset < len(p.log) for p in partitions.values())
    assert stuck is not guarded


@pytest.mark.parametrize("guarded", [True, False])
def test_kafka_14034_unknown_outcome_of_a_produce(guarded: bool) -> None:
    """The append succeeded, then its acknowledgement failed with an unexpected error.

    A client takes UNKNOWN_SERVER_ERROR for "not written" and goes on with a new epoch. The broker
    closes the connection instead, and the client sends the same epoch and sequence again.
    """
    partition = ModelPartition(P0, verify=False)
    assert partition.append(Batch(1, 0, 0, "once"), None) is E.NONE
    retry = Batch(1, 0, 0, "once") if guarded else Batch(1, 1, 0, "once")
    assert partition.append(retry, None) is E.NONE
    values = [entry.value for entry in partition.log if isinstance(entry, Batch)]
    assert (values == ["once"]) is guarded


@pytest.mark.parametrize("guarded", [True, False])
def test_kafka_9666_failed_append_burns_the_epoch(guarded: bool) -> None:
    """With too few in-sync replicas every attempt to fence failed, and took an epoch with it."""
    h = Harness(guards=TransactionGuards(change_only_after_append=guarded))
    producer = h.init()
    h.add(producer, P0)
    h.hold = True
    h.init()
    h.fail(E.NOT_ENOUGH_REPLICAS)
    assert (h.producer == (producer.producer_id, producer.producer_epoch)) is guarded
