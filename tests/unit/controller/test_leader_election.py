"""Tables of cases for the pure elections."""

import pytest

from barnabas.controller.machines.leader_election import (
    Elected,
    ElectionInput,
    ElectionKind,
    LeaderAndIsr,
    elect,
    elect_after_restart,
    first_leadership,
)
from barnabas.model.control import LeaderRecoveryState

RECOVERING = LeaderRecoveryState.RECOVERING


def election_input(replicas, isr, online, going=(), unclean=False):
    return ElectionInput(replicas, isr, frozenset(online), frozenset(going), unclean)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            election_input((1, 2, 3), (1, 2, 3), {2, 3}),
            Elected(2, (2, 3)),
            id="first alive in order",
        ),
        pytest.param(
            election_input((1, 2, 3), (3, 1), {1, 2, 3}),
            Elected(1, (3, 1)),
            id="assignment order counts",
        ),
        pytest.param(
            election_input((1, 2, 3), (3,), {2, 3}),
            Elected(3, (3,)),
            id="out-of-sync is passed over",
        ),
        pytest.param(election_input((1, 2), (1,), {2}), None, id="nobody in sync is alive"),
        pytest.param(election_input((1, 2), (1, 2), set()), None, id="nobody is alive"),
        pytest.param(
            election_input((1, 2, 3), (1,), {3, 2}, unclean=True),
            Elected(2, (2,), unclean=True),
            id="unclean if allowed",
        ),
        pytest.param(
            election_input((1, 2), (2,), {1, 2}, unclean=True),
            Elected(2, (2,)),
            id="clean is preferred to unclean",
        ),
    ],
)
def test_an_offline_partition_elects_the_first_live_replica_in_sync(given, expected):
    assert elect(ElectionKind.OFFLINE, given) == expected


def test_unclean_by_request_needs_no_setting():
    given = election_input((1, 2), (1,), {2})
    assert elect(ElectionKind.UNCLEAN, given) == Elected(2, (2,), unclean=True)


def test_unclean_by_request_turns_at_last_to_those_that_declined():
    declined = ElectionInput((1, 2), (1,), frozenset(), declining=frozenset({1, 2}))
    assert elect(ElectionKind.UNCLEAN, declined) == Elected(1, (1,), unclean=True)
    assert elect(ElectionKind.OFFLINE, declined) is None
    other_is_up = ElectionInput((1, 2), (1,), frozenset({2}), declining=frozenset({1}))
    assert elect(ElectionKind.UNCLEAN, other_is_up) == Elected(2, (2,), unclean=True)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (election_input((1, 2), (2, 1), {1, 2}), Elected(1, (2, 1))),
        (election_input((1, 2), (2,), {1, 2}), None),
        (election_input((1, 2), (1, 2), {2}), None),
    ],
    ids=["in sync and alive", "not in sync", "dead"],
)
def test_the_preferred_replica_is_elected_if_live_and_in_sync(given, expected):
    assert elect(ElectionKind.PREFERRED, given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (election_input((1, 2, 3), (1, 2, 3), {1, 2, 3}, {1}), Elected(2, (2, 3))),
        (election_input((1, 2, 3), (1, 2, 3), {1, 2, 3}, {1, 2}), Elected(3, (3,))),
        (election_input((1, 2), (1,), {1, 2}, {1}), None),
        (election_input((1, 2), (1, 2), {1}, {1}), None),
    ],
    ids=["next one", "two go", "the other is not in sync", "the other is dead"],
)
def test_a_broker_that_shuts_down_is_not_elected(given, expected):
    assert elect(ElectionKind.CONTROLLED_SHUTDOWN, given) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (election_input((4, 5), (1, 5, 4), {1, 4, 5}), Elected(4, (1, 5, 4))),
        (election_input((4, 5), (1, 5), {1, 4, 5}), Elected(5, (1, 5))),
        (election_input((4, 5), (1,), {1, 4, 5}), None),
    ],
    ids=["first target", "first target in sync", "no target in sync"],
)
def test_a_reassignment_elects_the_first_target_in_sync(given, expected):
    assert elect(ElectionKind.REASSIGN, given) == expected


def test_first_leadership_takes_all_that_are_online():
    assert first_leadership((3, 1, 2), frozenset({1, 2})) == LeaderAndIsr(1, 0, (1, 2))
    assert first_leadership((3,), frozenset({1, 2})) is None


def test_each_election_starts_a_new_epoch():
    before = LeaderAndIsr(1, 7, (1, 2), 4)
    assert before.elected(Elected(2, (2,))) == LeaderAndIsr(2, 8, (2,), 4)
    unclean = before.elected(Elected(2, (2,), unclean=True))
    assert unclean.recovery is RECOVERING
    assert unclean.elected(Elected(3, (3,))).recovery is RECOVERING


def test_leaving_replica_takes_its_leadership_along():
    assert LeaderAndIsr(1, 7, (1, 2), 4).without(1) == LeaderAndIsr(-1, 8, (2,), 4)
    assert LeaderAndIsr(1, 7, (1, 2), 4).without(2) == LeaderAndIsr(1, 8, (1,), 4)


def test_last_member_stays_in_the_set():
    assert LeaderAndIsr(1, 7, (1,), 4).without(1) == LeaderAndIsr(-1, 8, (1,), 4)


# Members that restarted while no controller saw it


@pytest.mark.parametrize(
    ("isr", "online", "returned", "expected"),
    [
        ((1, 2, 3), {1, 2, 3}, {2}, Elected(1, (1, 3))),  # who stayed keeps the partition
        ((1, 2, 3), {1, 2, 3}, {1}, Elected(2, (2, 3))),
        ((1, 2, 3), {1, 2, 3}, {1, 2, 3}, Elected(1, (1, 2, 3))),  # nobody is better than another
        ((1, 2), {1}, {1}, Elected(1, (1,))),  # the other one is not there at all
        ((2, 3), {3}, {3}, Elected(3, (3,))),
        ((1,), set(), set(), None),
    ],
)
def test_after_an_unseen_absence(isr, online, returned, expected):
    election_input = ElectionInput((1, 2, 3), isr, frozenset(online))
    assert elect_after_restart(election_input, 1, frozenset(returned)) == expected
