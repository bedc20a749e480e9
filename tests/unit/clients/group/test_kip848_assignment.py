"""The partitions of a KIP-848 member, on their way to a target."""

import pytest

from barnabas.clients.group.kip848_member import Kip848Assignment
from barnabas.clients.group.membership_actions import StepKind
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.wire.messages.consumer_group_heartbeat import Assignment, TopicPartitions

T, U = Uuid(b"0123456789abcdef"), Uuid(b"fedcba9876543210")
A, B, C = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


@pytest.fixture
def names():
    return {T: "t", U: "u"}


@pytest.fixture
def held(names):
    return Kip848Assignment(names)


def set_target(held, **numbers):
    ids = {"t": T, "u": U}
    held.set_target(
        Assignment([TopicPartitions(ids[name], found) for name, found in numbers.items()])
    )


def take_step(held, kind, *topic_partitions):
    step = held.next_step()
    assert (step.kind, step.partitions) == (kind, set(topic_partitions))
    held.apply_step(step)


def test_partitions_are_given_up_before_others_are_added(held):
    set_target(held, t=[0, 1])
    take_step(held, StepKind.ASSIGN, A, B)
    assert held.try_settle()
    set_target(held, t=[1], u=[0])
    take_step(held, StepKind.REVOKE, A)
    assert not held.try_settle()
    take_step(held, StepKind.ASSIGN, C)
    assert held.try_settle()
    assert (held.owned, held.settled, held.next_step()) == ({B, C}, True, None)


def test_a_target_waits_for_the_names_of_all_its_topics(held, names):
    del names[U]
    set_target(held, t=[0], u=[0])
    assert held.next_step() is None
    assert not held.settled
    names[U] = "u"
    take_step(held, StepKind.ASSIGN, A, C)


def test_a_target_that_changed_meanwhile_is_not_reached(held):
    set_target(held, t=[0])
    step = held.next_step()
    set_target(held, t=[1])
    held.apply_step(step)
    assert not held.try_settle()
    take_step(held, StepKind.REVOKE, A)
    take_step(held, StepKind.ASSIGN, B)
    assert held.try_settle()


def test_the_broker_gets_the_owned_partitions_by_id(held):
    assert held.unreported, "nothing was reported yet"
    assert held.report_owned() == []
    set_target(held, t=[0, 1], u=[0])
    take_step(held, StepKind.ASSIGN, A, B, C)
    assert held.unreported
    assert held.report_owned() == [TopicPartitions(T, [0, 1]), TopicPartitions(U, [0])]
    assert not held.unreported


def test_without_a_target_the_reported_partitions_do_not_count(held):
    set_target(held, t=[0])
    held.report_owned()
    held.drop_target()
    assert (held.settled, held.named_target(), held.unreported) == (True, None, True)
