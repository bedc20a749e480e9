"""The role of a member after JoinGroup, and the assignment that the leader sends."""

import pytest

from barnabas.clients.assignors import resolve_assignors
from barnabas.clients.group.classic_assignment import LeaderAssignment, leader_assignment
from barnabas.clients.group.classic_protocol import encode_subscription
from barnabas.model.errors import LocalError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember

RANGE, ROUND_ROBIN = resolve_assignors(("range", "roundrobin"))
OFFERED = (RANGE, ROUND_ROBIN)


def joined(protocol="range", leader="m", **more):
    members = [
        JoinGroupResponseMember(
            member_id=name, metadata=encode_subscription(topics, [], -1, None, "")
        )
        for name, topics in {"m": ["t"], "n": ["t", "u"]}.items()
    ]
    return JoinGroupResponse(
        protocol_name=protocol, leader=leader, member_id="m", members=members, **more
    )


def test_the_leader_divides_what_anybody_wants():
    division = leader_assignment(joined(), OFFERED)
    assert division.assignor is RANGE
    assert division.topics == {"t", "u"}
    assert division.assign({"t": 2, "u": 1}) == {
        "m": [TopicPartition("t", 0)],
        "n": [TopicPartition("t", 1), TopicPartition("u", 0)],
    }


@pytest.mark.parametrize("change", [{"leader": "n"}, {"skip_assignment": True}])
def test_others_divide_nothing(change):
    division = leader_assignment(joined("roundrobin", **change), OFFERED)
    assert division.assignor is ROUND_ROBIN
    assert not division.members


def test_an_assignor_that_is_not_offered():
    assert leader_assignment(joined("sticky"), OFFERED) is None


def test_an_assignor_that_fails_is_named():
    class Broken:
        name, cooperative = "broken", False

        def assign(self, partitions, members):
            raise ZeroDivisionError

    with pytest.raises(LocalError, match="'broken' failed: ZeroDivisionError"):
        LeaderAssignment(Broken()).assign({})
