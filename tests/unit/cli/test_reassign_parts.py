"""Reassignments: proposals, throttles, moves between directories."""

import json
from types import SimpleNamespace

import pytest

from barnabas.admin import LogDir, Reassignment, Replica, ReplicaInfo
from barnabas.admin.results import Results
from barnabas.cli.apache.reassign_partitions import move_log_dirs, verify_log_dirs
from barnabas.cli.apache.reassign_plan import (
    FOLLOWER_REPLICAS,
    LEADER_REPLICAS,
    brokers_for,
    moves_of,
    parse_plan,
    plan_json,
    propose,
    topic_throttles,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError, LocalError
from barnabas.model.ids import TopicPartition

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def plan(*items):
    return json.dumps({"version": 1, "partitions": list(items)})


def item(partition=0, replicas=(1,), **more):
    return {"topic": "t", "partition": partition, "replicas": list(replicas), **more}


def test_proposals_spread_leaders_and_replicas():
    current = {TopicPartition("t", n): (1, 2) for n in range(6)}
    proposed = propose(current, brokers_for([1, 2, 3], {}))
    leaders = [replicas[0] for replicas in proposed.values()]
    assert sorted(leaders) == [1, 1, 2, 2, 3, 3]
    assert all(len(set(replicas)) == 2 for replicas in proposed.values())
    assert len({tuple(replicas) for replicas in proposed.values()}) == 6
    with pytest.raises(LocalError, match="2 replicas"):
        propose(current, brokers_for([1], {}))


def test_proposals_spread_over_racks_by_default():
    current = {TopicPartition("t", n): (1, 2) for n in range(8)}
    racks = {1: "a", 2: "a", 3: "b", 4: "b"}

    def across(brokers):
        pairs = [{racks[n] for n in replicas} for replicas in propose(current, brokers).values()]
        return all(pair == {"a", "b"} for pair in pairs)

    assert across(brokers_for([1, 2, 3, 4], racks))
    assert not across(brokers_for([1, 2, 3, 4], {}))
    with pytest.raises(LocalError, match="--disable-rack-aware"):
        brokers_for([1, 2], {1: "a", 2: None})
    with pytest.raises(ConfigError, match="duplicate"):
        brokers_for([1, 1], {})


def test_assignments_as_json():
    text = plan_json({P0: [1, 2]})
    assert text == (
        '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[1,2],'
        '"log_dirs":["any","any"]}]}'
    )
    assert parse_plan(text) == ({P0: [1, 2]}, {})
    assert parse_plan(plan(item(replicas=(1, 2), log_dirs=["any", "/d"])))[1] == {(P0, 2): "/d"}


@pytest.mark.parametrize(
    "text",
    [
        plan(),
        plan(item(replicas=())),
        plan(item(replicas=(1, 1))),
        plan(item(), item()),
        plan(item(log_dirs=["any", "any"])),
        "{}",
        "x",
    ],
)
def test_an_invalid_plan_is_rejected(text):
    with pytest.raises(ConfigError):
        parse_plan(text)


def test_throttles_name_old_leaders_and_new_followers():
    moves = moves_of({P0: [1, 3], P1: [2]}, {P0: (3, 1), P1: (10, 9)}, {})
    assert topic_throttles(moves) == {
        "t": {LEADER_REPLICAS: "0:1,0:3,1:9,1:10", FOLLOWER_REPLICAS: "1:2"}
    }


def test_a_move_under_way_keeps_its_sources():
    active = {P0: Reassignment(replicas=(1, 2, 3), adding=(3,), removing=(1,))}
    moves = moves_of({P0: [2, 4]}, {P0: (1, 2, 3)}, active)
    assert (moves[P0].sources, moves[P0].targets) == ({1, 2}, {4})
    assert moves_of({}, {}, active)[P0].targets == {3}


class Disks:
    """Broker 1 with directories; a replica may be unknown for the first calls."""

    def __init__(self, unknown=0, **replicas):
        self.unknown = unknown
        self.replicas = replicas
        self.asked = []

    def alter_replica_log_dirs(self, moves):
        self.asked.append(dict(moves))
        if len(self.asked) <= self.unknown:
            error = BrokerError(ErrorCode.REPLICA_NOT_AVAILABLE)
            return Results(dict.fromkeys(moves, error))
        return Results(dict.fromkeys(moves))

    def describe_log_dirs(self, brokers):
        dirs = [
            LogDir(f"/{name}", None, {P0: ReplicaInfo(1, 0, future)})
            for name, future in self.replicas.items()
        ]
        return SimpleNamespace(ok={1: tuple(dirs)})


def test_log_dir_moves_wait_for_the_replica(capsys):
    disks = Disks(unknown=1)
    move_log_dirs(disks, {(P0, 1): "/d"}, 10_000)
    assert disks.asked == [{Replica("t", 0, 1): "/d"}] * 2
    expected = "Successfully started moving log directory to /d for replica t-0 with broker 1 \n"
    assert capsys.readouterr().out == expected
    with pytest.raises(LocalError, match="Timed out before log directory move could"):
        move_log_dirs(Disks(unknown=9), {(P0, 1): "/d"}, 0)


@pytest.mark.parametrize(
    ("replicas", "ongoing", "text"),
    [
        ({"d": False}, False, "Reassignment of replica t-0-1 completed successfully."),
        ({"c": False, "d": True}, True, "Reassignment of replica t-0-1 is still in progress."),
        ({"c": False, "e": True}, True, "is being moved to log dir /e instead of /d."),
        ({"c": False}, False, "is not being moved from log dir /c to /d."),
        ({}, False, "cannot be found in any live log directory on broker 1."),
    ],
)
def test_how_far_a_log_dir_move_is(capsys, replicas, ongoing, text):
    assert verify_log_dirs(Disks(**replicas), {(P0, 1): "/d"}) is ongoing
    assert text in capsys.readouterr().out
