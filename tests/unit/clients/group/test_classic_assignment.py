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


def holdings(*topic_partitions, strategies=("range",)):
    assignors = tuple(resolve_assignors(strategies))
    settings = GroupSettings("g", None, "classic", None, assignors, 45_000, 3000, 300_000, "eu")
    made = ClassicAssignment(settings)
    made.assigned = frozenset(topic_partitions)
    made.apply_step(AssignmentStep(StepKind.ASSIGN, made.missing))
    return made


def told(held, strategy):
    metadata = held.subscriptions(T)[strategy]
    return decode_subscription(JoinGroupResponseMember(member_id="m", metadata=metadata))


def test_steps_bring_what_is_owned_to_what_is_assigned():
    held = holdings(A)
    held.assigned = frozenset({B})
    assert (held.surplus, held.missing) == ({A}, {B})
    held.apply_step(AssignmentStep(StepKind.REVOKE, held.surplus))
    assert (held.owned, held.surplus, held.missing) == (set(), set(), {B})
    held.apply_step(AssignmentStep(StepKind.ASSIGN, held.missing))
    assert held.owned == {B}


@pytest.mark.parametrize(
    ("strategies", "given_up"),
    [
        (("range",), {A, OTHER}),
        (("cooperative-sticky",), {OTHER}),
        (("cooperative-sticky", "range"), {A, OTHER}),
    ],
)
def test_one_eager_assignor_in_the_list_gives_up_everything(strategies, given_up):
    assert holdings(A, OTHER, strategies=strategies).to_give_up(T) == given_up


def test_the_leader_is_told_what_is_owned_and_since_when():
    held = holdings(A, B, strategies=("cooperative-sticky",))
    held.settle(7)
    member = told(held, "cooperative-sticky")
    assert (member.topics, set(member.owned), member.generation) == (T, {A, B}, 7)
    assert member.rack == "eu"


def test_a_sticky_assignor_hears_of_partitions_that_were_given_up_to_join():
    held = holdings(A, strategies=("sticky",))
    held.settle(7)
    held.apply_step(AssignmentStep(StepKind.PREPARE, held.to_give_up(T)))
    remembered = told(held, "sticky")
    assert remembered.owned == ()
    held.unsettle()
    assert told(held, "sticky").user_data != remembered.user_data
    assert told(held, "sticky").generation == -1
