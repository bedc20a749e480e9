"""A follower applies the responses of its leader to a real log."""

import pytest
from support.cluster.replicas import Replica
from support.storage.log_world import World, contents, put, raw

from barnabas.model.errors import CorruptRecordError
from barnabas.replication import fetcher
from barnabas.replication.partition import Partition

BATCH = [(b"k", b"%d" % number) for number in range(6)]


@pytest.fixture
def leader_log():
    """Two batches; the log's start lies within the first one."""
    log = World().log
    put(log, *BATCH)
    put(log, *BATCH)
    log.update_high_watermark(12)
    log.increment_log_start_offset(4)
    return log


@pytest.fixture
def follower():
    log = World().log
    return Partition(log.topic_partition, log, Replica(2).partition.settings)


def take(follower, data):
    fetcher.append_from_leader(follower, data, leader_high_watermark=12, leader_log_start=4)


def test_a_new_replica_takes_the_whole_batch_that_holds_the_leaders_start(leader_log, follower):
    assert fetcher.realign(follower, 4, 12)
    take(follower, raw(leader_log))
    log = follower.log
    assert (log.log_start_offset, log.log_end_offset, log.high_watermark) == (4, 12, 12)
    assert contents(log, start=4) == contents(leader_log, start=4)


def test_a_log_with_records_does_not_begin_again(leader_log, follower):
    put(follower.log, *BATCH[:3])
    follower.log.update_high_watermark(3)
    with pytest.raises(CorruptRecordError, match="continues at 3"):
        take(follower, raw(leader_log))
    assert follower.log.log_end_offset == 3
