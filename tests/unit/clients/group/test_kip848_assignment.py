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


def aim(held, **numbers):
    ids = {"t": T, "u": U}
    held.aim(Assignment([TopicPartitions(ids[name], found) for name, found in numbers.items()]))


def take_step(held, kind, *topic_partitions):
    step = held.next_step()
    assert (step.kind, step.partitions) == (kind, set(topic_partitions))
    held.apply_step(step)


def test_partitions_are_given_up_before_others_are_added(held):
    aim(held, t=[0, 1])
    take_step(held, StepKind.ASSIGN, A, B)
    assert held.try_settle()
    aim(held, t=[1], u=[0])
    take_step(held, StepKind.REVOKE, A)
    assert not held.try_settle()
    take_step(held, StepKind.ASSIGN, C)
    assert held.try_settle()
    assert (held.owned, held.settled, held.next_step()) == ({B, C}, True, None)


def test_a_target_waits_for_the_names_of_all_its_topics(held, names):
    del names[U]
    aim(held, t=[0], u=[0])
    assert held.next_step() is None
    assert not held.settled
    names[U] = "u"
    take_step(held, StepKind.ASSIGN, A, C)


def test_a_target_that_changed_meanwhile_is_not_reached(held):
    aim(held, t=[0])
    step = held.next_step()
    aim(held, t=[1])
    held.apply_step(step)
    assert not held.try_settle()
    take_step(held, StepKind.REVOKE, A)
    take_step(held, StepKind.ASSIGN, B)
    assert held.try_settle()


def test_the_broker_is_told_what_is_owned_by_id(held):
    assert held.untold, "nothing was said yet"
    assert held.tell() == []
    aim(held, t=[0, 1], u=[0])
    take_step(held, StepKind.ASSIGN, A, B, C)
    assert held.untold
    assert held.tell() == [TopicPartitions(T, [0, 1]), TopicPartitions(U, [0])]
    assert not held.untold


def test_without_a_target_what_was_told_does_not_count(held):
    aim(held, t=[0])
    held.tell()
    held.drop_target()
    assert (held.settled, held.wanted(), held.untold) == (True, None, True)
