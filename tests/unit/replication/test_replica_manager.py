"""Commands of the controller, and the replicas of a broker after them."""

import pytest
from support.cluster.replicas import (
    TOPIC_ID,
    TP,
    RecordingIsrChannel,
    RecordingListener,
    command,
    state,
)
from support.storage.memory_log import MemoryLog

from barnabas.model.control import (
    EPOCH_DURING_DELETE,
    LeaderRecoveryState,
    StopReplicaCommand,
    StopReplicaPartition,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.replication.partition import ReplicaSettings
from barnabas.replication.replica_manager import NoFollowers, ReplicaManager, StartCondition
from barnabas.replication.safety_rules import UncleanStartPolicy
from barnabas.testing.virtual_clock import VirtualClock


class Logs:
    def __init__(self):
        self.logs = {}
        self.broken = False

    def get(self, topic_partition):
        return self.logs.get(topic_partition)

    def get_or_create(self, topic_partition, topic_id, *, is_new):
        if self.broken:
            raise BrokerError(ErrorCode.KAFKA_STORAGE_ERROR)
        return self.logs.setdefault(topic_partition, MemoryLog())

    def delete(self, topic_partition):
        self.logs.pop(topic_partition, None)


class Followers:
    def __init__(self):
        self.following = {}

    def follow(self, partition):
        self.following[partition.topic_partition] = (partition.leader, partition.leader_epoch)

    def unfollow(self, topic_partition):
        self.following.pop(topic_partition, None)


class World:
    def __init__(self, broker_epoch=50, **start):
        self.logs, self.followers = Logs(), Followers()
        self.clock, self.channel = VirtualClock(monotonic_ms=1_000), RecordingIsrChannel()
        settings = ReplicaSettings(1, self.clock, self.channel, max_lag_ms=100)
        self.manager = ReplicaManager(
            settings, self.logs, self.followers,
            start=StartCondition(**start), broker_epoch=lambda: broker_epoch,
        )  # fmt: skip

    def apply(self, *states, **epochs):
        return self.manager.apply_leader_and_isr(command(*states, **epochs))

    def code(self, offered):
        return self.apply(offered).partitions[offered.topic_partition]

    def stop(self, delete, epoch=0, controller_epoch=1):
        item = StopReplicaPartition(TP, epoch, delete)
        return self.manager.stop_replicas(StopReplicaCommand(9, controller_epoch, 50, (item,)))


@pytest.fixture
def world():
    return World()


def test_becoming_leader_and_found_by_name_and_id(world):
    assert world.code(state()) is ErrorCode.NONE
    partition = world.manager.partition(TP)
    assert partition.is_leader
    assert world.manager.partition_by_id(TOPIC_ID, 0) is partition
    assert world.manager.partition_by_id(TOPIC_ID, 1) is None
    assert world.manager.partition_by_id(Uuid(16), 0) is None
    assert list(world.manager.leader_partitions()) == [partition]
    assert list(world.manager.partitions()) == [partition]


def test_becoming_follower_starts_fetching_and_leading_stops_it(world):
    world.apply(state(leader=2))
    assert world.followers.following == {TP: (2, 0)}
    world.apply(state(leader=3, leader_epoch=1))
    assert world.followers.following == {TP: (3, 1)}
    world.apply(state(leader_epoch=2))
    assert world.followers.following == {}


def test_no_leader_means_nobody_to_fetch_from(world):
    world.apply(state(leader=2))
    world.apply(state(leader=-1, leader_epoch=1))
    assert world.followers.following == {}


def test_a_deposed_controller_is_rejected(world):
    world.apply(state(), controller_epoch=5)
    assert world.apply(state(leader_epoch=9), controller_epoch=4).error is (
        ErrorCode.STALE_CONTROLLER_EPOCH
    )
    assert world.stop(True, controller_epoch=4).error is ErrorCode.STALE_CONTROLLER_EPOCH
    assert world.manager.fence_command(4, -1) is ErrorCode.STALE_CONTROLLER_EPOCH


def test_commands_for_an_earlier_incarnation_are_rejected_and_newer_ones_obeyed(world):
    assert world.apply(state(), broker_epoch=49).error is ErrorCode.STALE_BROKER_EPOCH
    assert world.apply(state(), broker_epoch=51).error is ErrorCode.NONE
    assert world.apply(state(leader_epoch=1), broker_epoch=50).error is ErrorCode.NONE


def test_an_older_leader_epoch_is_rejected_for_that_partition_alone(world):
    world.apply(state(leader_epoch=4))
    other = state(topic_partition=TopicPartition("orders", 1))
    reply = world.apply(state(leader=2, leader_epoch=3), other)
    assert reply.partitions == {
        TP: ErrorCode.STALE_CONTROLLER_EPOCH,
        other.topic_partition: ErrorCode.NONE,
    }
    assert world.manager.partition(TP).is_leader


def test_a_recreated_topic_is_not_mixed_up(world):
    world.apply(state())
    reborn = state(leader_epoch=7, topic_id=Uuid(b"x" * 16))
    assert world.code(reborn) is ErrorCode.INCONSISTENT_TOPIC_ID


def test_a_broken_disk_answers_for_its_partition_and_may_recover(world):
    world.logs.broken = True
    assert world.code(state()) is ErrorCode.KAFKA_STORAGE_ERROR
    world.logs.broken = False
    assert world.code(state()) is ErrorCode.NONE  # the same epoch again, KAFKA-9307


def test_listeners_hear_of_partitions_old_and_new(world):
    first, second = RecordingListener(), RecordingListener()
    world.manager.add_listener(first)
    world.apply(state())
    world.manager.add_listener(second)
    world.apply(state(leader_epoch=1))
    assert len(first.events) == 2
    assert len(second.events) == 1


def test_stopping_without_delete_keeps_the_log(world):
    world.apply(state(leader=2))
    assert world.stop(False).partitions == {TP: ErrorCode.NONE}
    assert world.followers.following == {}
    assert TP in world.logs.logs
    world.apply(state(leader=2, leader_epoch=1))
    assert world.followers.following == {TP: (2, 1)}


def test_deleting_forgets_name_and_log(world):
    world.apply(state())
    assert world.stop(True, epoch=EPOCH_DURING_DELETE).partitions == {TP: ErrorCode.NONE}
    assert world.manager.partition(TP) is None
    assert world.manager.partition_by_id(TOPIC_ID, 0) is None
    assert TP not in world.logs.logs


def test_a_late_stop_is_fenced(world):
    world.apply(state(leader_epoch=4))
    assert world.stop(True, epoch=3).partitions == {TP: ErrorCode.FENCED_LEADER_EPOCH}
    assert world.manager.partition(TP).is_leader


def test_stopping_what_is_not_here_deletes_the_log_left_behind(world):
    world.logs.get_or_create(TP, TOPIC_ID, is_new=True)
    assert world.stop(True).partitions == {TP: ErrorCode.NONE}
    assert not world.logs.logs


def test_tick_drops_laggards(world):
    world.apply(state())
    world.manager.partition(TP).append_to_leader(["a"], None, acks=1, now_ms=0, origin=None)
    world.clock.advance(101)
    world.manager.tick()
    assert world.channel.proposed == [(1,)]


def test_a_changed_min_insync_takes_effect(world):
    world.apply(state(isr=(1,)))
    world.manager.change_min_insync("orders", 2)
    assert world.manager.partition(TP).is_under_min_insync
    world.manager.change_min_insync("others", 1)
    assert world.manager.partition(TP).min_insync == 2


def test_a_failed_directory_takes_its_replicas_out(world):
    world.apply(state())
    world.manager.fail_partition(TP)
    assert not world.manager.partition(TP).is_leader


# --- after a loss of power ---


def lost_power(policy=UncleanStartPolicy.DECLINE):
    return World(doubtful=frozenset({TP}), policy=policy)


def test_the_replica_that_may_lack_its_tail_declines():
    world = lost_power(UncleanStartPolicy.DECLINE_ALONE)
    assert world.code(state(isr=(1,))) is ErrorCode.KAFKA_STORAGE_ERROR
    assert not world.manager.partition(TP).is_leader
    assert world.manager.declined == {TP}


def test_being_asked_again_without_a_leader_is_declined_too():
    world = lost_power(UncleanStartPolicy.DECLINE_ALONE)
    leaderless = state(leader=-1, isr=(1,), leader_epoch=1)
    assert world.code(leaderless) is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.code(state(leader=2, leader_epoch=2)) is ErrorCode.NONE
    assert not world.manager.declined


def test_an_unclean_election_is_being_told_to():
    offered = state(isr=(1,), leader_epoch=1, recovery=LeaderRecoveryState.RECOVERING)
    assert lost_power().code(offered) is ErrorCode.NONE


def test_one_that_was_let_in_again_leads():
    world = lost_power()
    world.apply(state(leader=2, isr=(2, 3)))
    assert world.code(state(isr=(1, 2), leader_epoch=1)) is ErrorCode.NONE


def test_one_that_never_left_the_set_must_catch_up_first():
    world = lost_power()
    world.apply(state(leader=2, isr=(1, 2)))
    assert world.code(state(isr=(1,), leader_epoch=1)) is ErrorCode.KAFKA_STORAGE_ERROR
    assert world.manager.doubtful == {TP}
    world.manager.trust(TP)
    assert world.code(state(isr=(1,), leader_epoch=1)) is ErrorCode.NONE


def test_no_followers_accepts_every_call():
    """Passes when the calls of a replica without followers raise no error."""
    followers = NoFollowers()
    followers.follow(None)
    followers.unfollow(TP)


def test_partitions_that_have_followers_follow_the_commands(world):
    """The periodic check of in-sync replicas visits these alone."""

    def replicated():
        return [partition.topic_partition for partition in world.manager.replicated_partitions()]

    alone = state(topic_partition=TopicPartition("orders", 7), replicas=(1,), isr=(1,))
    world.apply(state(), alone)
    assert replicated() == [TP]
    world.apply(state(leader_epoch=1, replicas=(1,), isr=(1,)))
    assert replicated() == []
    world.apply(state(leader_epoch=2))
    assert replicated() == [TP]
    world.apply(state(leader=2, leader_epoch=3))
    assert replicated() == []
    world.apply(state(leader_epoch=4))
    world.stop(True, epoch=4)
    assert replicated() == []
