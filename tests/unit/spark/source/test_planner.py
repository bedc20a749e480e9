"""The next offsets of a query, and lost records."""

import pytest

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.spark.source.planner import (
    DELETED,
    RECREATED,
    TRUNCATED,
    ClusterView,
    DataLossError,
    Loss,
    OffsetRange,
    advance,
    log_end_loss,
    log_start_loss,
    ranges_between,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
OLD, NEW = Uuid(b"o" * 16), Uuid(b"n" * 16)


def view(latest, **ids):
    return ClusterView(latest, ids or {"a": OLD, "b": OLD})


def test_runs_to_the_end_of_the_topics():
    step = advance({A0: 3, B0: 4}, view({A0: 7, B0: 4}), {"a": OLD, "b": OLD})
    assert (step.base, step.end, step.losses) == ({A0: 3, B0: 4}, {A0: 7, B0: 4}, [])


def test_a_new_partition_begins_at_zero():
    step = advance({A0: 3}, view({A0: 3, A1: 5}), {"a": OLD})
    assert step.end == {A0: 3, A1: 5}
    assert not step.losses
    assert ranges_between({A0: 3}, step.end) == [OffsetRange("a", 1, 0, 5, fresh=True)]


def test_a_deleted_topic_is_a_loss_and_is_removed():
    step = advance({A0: 3, B0: 4}, view({A0: 3}), {"a": OLD, "b": OLD})
    assert step.end == {A0: 3}
    assert step.losses == [Loss(B0, 4, None, DELETED)]
    assert str(step.losses[0]) == f"b-0: everything from offset 4 on: {DELETED}"


@pytest.mark.parametrize("latest", [0, 3, 100])
def test_a_recreated_topic_is_removed_and_then_read_from_zero(latest):
    seen = view({A0: latest}, a=NEW)
    step = advance({A0: 3}, seen, {"a": OLD})
    assert (step.end, step.losses) == ({}, [Loss(A0, 3, None, RECREATED)])
    again = advance(step.end, seen, {"a": NEW})
    assert (again.end, again.losses) == ({A0: latest}, [])
    assert sum(item.size for item in ranges_between(step.end, again.end)) == latest


def test_a_truncated_log_continues_from_its_end():
    step = advance({A0: 9}, view({A0: 5}), {"a": OLD})
    assert step.losses == [Loss(A0, 5, 8, TRUNCATED)]
    assert step.end == {A0: 5}
    assert ranges_between({A0: 9}, step.end) == []


def test_after_a_restart_a_log_that_ends_too_early_is_read_from_its_beginning():
    step = advance({A0: 9}, view({A0: 5}), {})
    assert step.losses == [Loss(A0, 5, 8, TRUNCATED)]
    assert step.end == {}


def test_brokers_without_topic_ids():
    step = advance({A0: 3}, ClusterView({A0: 4}, {}), {"a": OLD})
    assert (step.end, step.losses) == ({A0: 4}, [])


def test_losses_of_a_range_name_the_offsets():
    assert str(log_start_loss(A0, 5, 8, 20)).startswith("a-0: offsets 5 to 7: retention")
    assert log_start_loss(A0, 5, 30, 20).last == 19
    assert str(log_start_loss(A0, 5, 6, 20)).startswith("a-0: offset 5: ")
    loss = log_end_loss(A0, 5, 8, 20)
    assert (loss.first, loss.last) == (8, 19)


def test_the_error_names_every_loss():
    error = DataLossError([Loss(A0, 1, 2, "x"), Loss(B0, 3, None, "y")])
    assert "a-0: offsets 1 to 2: x; b-0: everything from offset 3 on: y" in str(error)
    assert "failOnDataLoss=false" in str(error)
