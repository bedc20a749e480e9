"""Builds replicas for tests: states, commands, and channels that record requests."""

import pytest
from support.storage.memory_log import MemoryLog

from barnabas.model.control import AlterPartitionReply, LeaderAndIsrCommand, PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.replication import partition_reader
from barnabas.replication.partition import Partition, ReplicaSettings
from barnabas.replication.ports import FetchSpec
from barnabas.testing.virtual_clock import VirtualClock

TP = TopicPartition("orders", 0)
TOPIC_ID = Uuid(b"0123456789abcdef")


def state(leader=1, leader_epoch=0, isr=(1, 2, 3), replicas=(1, 2, 3), **fields):
    fields.setdefault("topic_id", TOPIC_ID)
    fields.setdefault("topic_partition", TP)
    return PartitionState(
        leader=leader, leader_epoch=leader_epoch, isr=isr, replicas=replicas, **fields
    )


def command(*states, controller_epoch=1, broker_epoch=-1):
    return LeaderAndIsrCommand(9, controller_epoch, broker_epoch, tuple(states))


class RecordingIsrChannel:
    """Stores the proposals; the test sends the replies."""

    def __init__(self):
        self.pending = []

    def alter_partition(self, change, on_reply):
        self.pending.append((change, on_reply))

    @property
    def proposed(self):
        return [change.new_isr for change, _ in self.pending]

    def commit(self, leader=1):
        """Replies to the oldest proposal as a controller that accepts it."""
        change, on_reply = self.pending.pop(0)
        on_reply(
            AlterPartitionReply(
                ErrorCode.NONE,
                leader,
                change.leader_epoch,
                change.new_isr,
                change.partition_epoch + 1,
            )
        )
        return change

    def refuse(self, error):
        change, on_reply = self.pending.pop(0)
        on_reply(AlterPartitionReply(error))
        return change


class RecordingListener:
    def __init__(self):
        self.events = []

    def on_append(self, partition):
        self.events.append(("append", partition.log.log_end_offset))

    def on_high_watermark(self, partition):
        self.events.append(("hw", partition.log.high_watermark))

    def on_leader_change(self, partition):
        self.events.append(("leader", partition.leader))


class Replica:
    """A partition and its collaborators."""

    def __init__(self, broker_id=1, **settings):
        self.clock = VirtualClock(monotonic_ms=1_000)
        self.channel = RecordingIsrChannel()
        self.log = MemoryLog()
        self.listener = RecordingListener()
        min_insync = settings.pop("min_insync", 1)
        settings.setdefault("max_lag_ms", 100)
        self.settings = ReplicaSettings(
            broker_id, self.clock, self.channel, min_insync_of=lambda _: min_insync, **settings
        )
        self.partition = Partition(TP, self.log, self.settings)
        self.partition.add_listener(self.listener)

    def append(self, *values, acks=-1):
        return self.partition.append_to_leader(
            list(values), None, acks=acks, now_ms=self.clock.now_ms(), origin=None
        )


def leader(**settings):
    """A replica that leads."""
    replica = Replica(**settings)
    replica.partition.make_leader(state())
    return replica


def fetch(replica, follower, offset, epoch=-1):
    """Returns the result of a follower's fetch."""
    return partition_reader.read(
        replica.partition,
        FetchSpec(offset, 100, replica_id=follower, last_fetched_epoch=epoch, log_start_offset=0),
    )


def proposing_leader():
    """A leader that has proposed to remove follower 3, which has not fetched, from the ISR."""
    replica = leader()
    replica.append("a")
    fetch(replica, 2, 1)
    replica.clock.advance(101)
    fetch(replica, 2, 1)
    replica.partition.tick(replica.clock.monotonic_ms())
    return replica


def code_of(call, *args, **kwargs):
    """Returns the error code with which a call is rejected."""
    with pytest.raises(BrokerError) as caught:
        call(*args, **kwargs)
    return caught.value.code
