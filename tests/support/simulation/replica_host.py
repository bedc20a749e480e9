"""A broker reduced to its replicas: real manager, partitions and rules over logs in memory.

It can be stopped in three ways (cleanly, killed, without power) and started again from what its
disk kept. How it fetches and how it reaches the controller is given from outside, so that the
step-by-step laboratory and the seeded simulation use the same host.
"""

import enum

from support.storage.memory_log import MemoryLog

from barnabas.replication.partition import ReplicaSettings
from barnabas.replication.replica_manager import ReplicaManager, StartCondition
from barnabas.replication.safety_rules import DEFAULT_RULES, UncleanStartPolicy


class Stop(enum.Enum):
    """The way in which a broker stops."""

    CLEAN = "clean"  # all flushed, watermark written down
    KILL = "kill"  # the page cache stays, the watermark is that of the checkpoint
    POWER = "power"  # data that was not flushed is lost


class MemoryLogs:
    """The log directory of one broker."""

    def __init__(self):
        self.logs = {}
        self.checkpoint = {}  # high watermarks as last written down

    def get(self, topic_partition):
        return self.logs.get(topic_partition)

    def get_or_create(self, topic_partition, topic_id, *, is_new):
        return self.logs.setdefault(topic_partition, MemoryLog())

    def delete(self, topic_partition):
        self.logs.pop(topic_partition, None)
        self.checkpoint.pop(topic_partition, None)

    def write_checkpoint(self):
        self.checkpoint = {
            topic_partition: log.high_watermark for topic_partition, log in self.logs.items()
        }

    def flush(self):
        for log in self.logs.values():
            log.flush()

    def go_down(self, how):
        """Leave what such a stop leaves on the disk."""
        if how is Stop.CLEAN:
            self.write_checkpoint()
            self.flush()
        for topic_partition, log in self.logs.items():
            if how is Stop.POWER:
                log.lose_power()
            watermark = min(self.checkpoint.get(topic_partition, 0), log.log_end_offset)
            log.high_watermark = max(watermark, log.log_start_offset)
            log.flush()  # recovery writes what it found


class ReplicaHost:
    """One incarnation after another of one broker."""

    def __init__(self, broker_id, clock, *, rules=DEFAULT_RULES, policy=None, **settings):
        self.broker_id = broker_id
        self.clock = clock
        self.disk = MemoryLogs()
        self.rules = rules
        self.policy = policy or UncleanStartPolicy.DECLINE
        self.settings = settings
        self.manager = None
        self._doubtful = set()  # as noted on the disk

    @property
    def is_up(self):
        return self.manager is not None

    def start(self, isr_channel, followers, broker_epoch):
        """Begin an incarnation; `followers` is its FollowerControl, `broker_epoch` a function."""
        self.manager = ReplicaManager(
            ReplicaSettings(
                self.broker_id, self.clock, isr_channel, rules=self.rules, **self.settings
            ),
            self.disk,
            followers,
            start=StartCondition(frozenset(self._doubtful), self.policy),
            broker_epoch=broker_epoch,
        )

    def stop(self, how):
        self._doubtful = self.manager.doubtful
        self.manager = None
        self.disk.go_down(how)
        if how is Stop.POWER:
            self._doubtful |= set(self.disk.logs)

    def partition(self, topic_partition):
        return None if self.manager is None else self.manager.partition(topic_partition)

    def log(self, topic_partition):
        return self.disk.get(topic_partition)
