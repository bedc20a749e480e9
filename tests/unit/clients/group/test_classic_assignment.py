"""The partitions of a classic member, and what it says of them when it joins."""

import pytest

from barnabas.clients.assignors import resolve_assignors
from barnabas.clients.group.classic_assignment import ClassicAssignment
from barnabas.clients.group.classic_protocol import decode_subscription
from barnabas.clients.group.membership_actions import AssignmentStep, StepKind
from barnabas.clients.group.settings import GroupSettings
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.join_group import JoinGroupResponseMember

A, B, OTHER = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
T = frozenset({"t"})


def assignment_of(*topic_partitions, strategies=("range",)):
    assignors = tuple(resolve_assignors(strategies))
    settings = GroupSettings("g", None, "classic", None, assignors, 45_000, 3000, 300_000, "eu")
    made = ClassicAssignment(settings)
    made.assigned = frozenset(topic_partitions)
    made.apply_step(AssignmentStep(StepKind.ASSIGN, made.missing))
    return made


def sent_subscription(assignment, strategy):
    metadata = assignment.subscriptions(T)[strategy]
    return decode_subscription(JoinGroupResponseMember(member_id="m", metadata=metadata))


def test_steps_bring_what_is_owned_to_what_is_assigned():
    assignment = assignment_of(A)
    assignment.assigned = frozenset({B})
    assert (assignment.surplus, assignment.missing) == ({A}, {B})
    assignment.apply_step(AssignmentStep(StepKind.REVOKE, assignment.surplus))
    assert (assignment.owned, assignment.surplus, assignment.missing) == (set(), set(), {B})
    assignment.apply_step(AssignmentStep(StepKind.ASSIGN, assignment.missing))
    assert assignment.owned == {B}


@pytest.mark.parametrize(
    ("strategies", "revoked"),
    [
        (("range",), {A, OTHER}),
        (("cooperative-sticky",), {OTHER}),
        (("cooperative-sticky", "range"), {A, OTHER}),
    ],
)
def test_one_eager_assignor_in_the_list_gives_up_everything(strategies, revoked):
    assert assignment_of(A, OTHER, strategies=strategies).revoked_before_join(T) == revoked


def test_the_leader_gets_the_owned_partitions_and_their_generation():
    assignment = assignment_of(A, B, strategies=("cooperative-sticky",))
    assignment.settle(7)
    member = sent_subscription(assignment, "cooperative-sticky")
    assert (member.topics, set(member.owned), member.generation) == (T, {A, B}, 7)
    assert member.rack == "eu"


def test_a_sticky_assignor_hears_of_partitions_that_were_given_up_to_join():
    assignment = assignment_of(A, strategies=("sticky",))
    assignment.settle(7)
    assignment.apply_step(AssignmentStep(StepKind.PREPARE, assignment.revoked_before_join(T)))
    remembered = sent_subscription(assignment, "sticky")
    assert remembered.owned == ()
    assignment.unsettle()
    assert sent_subscription(assignment, "sticky").user_data != remembered.user_data
    assert sent_subscription(assignment, "sticky").generation == -1
