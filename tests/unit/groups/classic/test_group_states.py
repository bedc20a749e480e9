"""The reply to each request in each state of a classic group."""

import pytest
from support.groups.driver import GroupDriver

from barnabas.groups.classic.group import PREVIOUS_STATES, ClassicState
from barnabas.model.error_codes import ErrorCode as E


def empty():
    driver = GroupDriver()
    ids = driver.stable_group(2)
    driver.leave(*ids)
    return driver, ids[0], ids[1], 2


def preparing():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    driver.join(leader)
    return driver, leader, follower, 1


def completing():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    driver.join(leader)
    driver.join(follower)
    return driver, leader, follower, 2


def stable():
    driver = GroupDriver()
    leader, follower = driver.stable_group(2)
    return driver, leader, follower, 1


STATES = {
    "Empty": empty,
    "PreparingRebalance": preparing,
    "CompletingRebalance": completing,
    "Stable": stable,
}
PARKED = "parked"

TABLE = [
    # request, then the answer in Empty, Preparing, Completing, Stable
    ("join new", E.MEMBER_ID_REQUIRED, E.MEMBER_ID_REQUIRED, E.MEMBER_ID_REQUIRED,
     E.MEMBER_ID_REQUIRED),
    ("join leader", E.UNKNOWN_MEMBER_ID, PARKED, E.NONE, PARKED),
    ("join follower", E.UNKNOWN_MEMBER_ID, E.NONE, E.NONE, E.NONE),
    ("join stranger", E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID,
     E.UNKNOWN_MEMBER_ID),
    ("join other type", E.MEMBER_ID_REQUIRED, E.INCONSISTENT_GROUP_PROTOCOL,
     E.INCONSISTENT_GROUP_PROTOCOL, E.INCONSISTENT_GROUP_PROTOCOL),
    ("sync follower", E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS, PARKED, E.NONE),
    ("sync old generation", E.UNKNOWN_MEMBER_ID, E.ILLEGAL_GENERATION, E.ILLEGAL_GENERATION,
     E.ILLEGAL_GENERATION),
    ("sync stranger", E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID,
     E.UNKNOWN_MEMBER_ID),
    ("heartbeat", E.UNKNOWN_MEMBER_ID, E.REBALANCE_IN_PROGRESS, E.NONE, E.NONE),
    ("heartbeat old generation", E.UNKNOWN_MEMBER_ID, E.ILLEGAL_GENERATION, E.ILLEGAL_GENERATION,
     E.ILLEGAL_GENERATION),
    ("commit", E.UNKNOWN_MEMBER_ID, E.NONE, E.REBALANCE_IN_PROGRESS, E.NONE),
    ("commit old generation", E.UNKNOWN_MEMBER_ID, E.ILLEGAL_GENERATION, E.ILLEGAL_GENERATION,
     E.ILLEGAL_GENERATION),
    ("commit simple", E.NONE, E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID),
    ("leave stranger", E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID, E.UNKNOWN_MEMBER_ID,
     E.UNKNOWN_MEMBER_ID),
    ("leave", E.UNKNOWN_MEMBER_ID, E.NONE, E.NONE, E.NONE),
    ("delete", E.NONE, E.NON_EMPTY_GROUP, E.NON_EMPTY_GROUP, E.NON_EMPTY_GROUP),
]  # fmt: skip


def send(name, driver, leader, follower, generation):
    match name.split():
        case ["join", "new"]:
            return driver.join()
        case ["join", "other", "type"]:
            return driver.join(protocol_type="connect")
        case ["join", who]:
            return driver.join({"leader": leader, "follower": follower, "stranger": "x"}[who])
        case ["sync", "old", _]:
            return driver.sync(follower, generation - 1)
        case ["sync", who]:
            return driver.sync({"follower": follower, "stranger": "x"}[who], generation)
        case ["heartbeat", *old]:
            return driver.heartbeat(follower, generation - len(old[:1]))
        case ["commit", "simple"]:
            return driver.commit(1)
        case ["commit", *old]:
            return driver.commit(1, follower, generation - len(old[:1]))
        case ["leave", *stranger]:
            return driver.leave("x" if stranger else follower)
        case _:
            return driver.run(driver.shard.delete_groups(["g"], driver.now_ms))


def code_of(name, answer):
    if not answer.done:
        return PARKED
    match name.split()[0]:
        case "commit":
            return answer.reply.partitions[0][1]
        case "leave":
            return answer.reply.members[0].error_code
        case "delete":
            return answer.reply.results[0][1]
    return answer.code


CASES = [
    pytest.param(row[0], state, expected, id=f"{row[0]}-{state}")
    for row in TABLE
    for state, expected in zip(STATES, row[1:], strict=True)
]


@pytest.mark.parametrize(("request_name", "state", "expected"), CASES)
def test_request_in_state(request_name, state, expected):
    driver, leader, follower, generation = STATES[state]()
    assert driver.state() == state
    answer = send(request_name, driver, leader, follower, generation)
    assert code_of(request_name, answer) == expected


@pytest.mark.parametrize("state", list(STATES)[1:])
def test_silence_leads_out_of_every_state(state):
    """KAFKA-12890: without requests the group becomes empty; parked requests get a reply."""
    driver, *_ = STATES[state]()
    driver.advance(10 * 60_000)
    assert driver.state() == "Empty"
    assert not driver.parked


def test_every_state_can_be_entered_and_dead_is_never_left():
    assert set(PREVIOUS_STATES) == set(ClassicState)
    assert not any(
        ClassicState.DEAD in before
        for state, before in PREVIOUS_STATES.items()
        if state is not ClassicState.DEAD
    )
