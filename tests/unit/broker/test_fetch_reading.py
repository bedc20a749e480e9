"""A session's fetch reads only the partitions that have something to send."""

from types import SimpleNamespace

import pytest
from support.cluster.replicas import TOPIC_ID, TP, Replica, state

from barnabas.broker.fetch_reading import FetchJob
from barnabas.broker.fetch_sessions import FetchSessionCache, FetchSessionRequest, SessionPartition
from barnabas.broker.metrics.topic_metrics import TopicMetrics
from barnabas.model.error_codes import ErrorCode
from barnabas.replication import partition_reader
from barnabas.runtime.metrics import Registry
from barnabas.wire.messages.fetch import FetchRequest, ReplicaState

FOLLOWER, CONSUMER = 2, -1


class Session:
    """One partition, fetched again and again in one session."""

    def __init__(self, monkeypatch, sender):
        self.replica = Replica()
        self.replica.partition.make_leader(state(leader_epoch=2, isr=(1, 2), replicas=(1, 2)))
        self.reads = 0
        self._sender = sender
        self._cache = FetchSessionCache(lambda: 77)
        self._id = self._epoch = 0
        self._read = partition_reader.read
        monkeypatch.setattr(partition_reader, "read", self._counted)

    def _counted(self, partition, spec):
        self.reads += 1
        return self._read(partition, spec)

    def _services(self):
        replicas = SimpleNamespace(
            partition_by_id=lambda _id, _number: self.replica.partition,
            settings=self.replica.settings,
        )
        return SimpleNamespace(
            authorizers=SimpleNamespace(of=lambda _listener: None),
            clock=self.replica.clock,
            config={"fetch.max.bytes": 1000},
            fetch_sessions=self._cache,
            metadata=SimpleNamespace(partition=lambda _tp: None, topic_name=lambda _id: None),
            replicas=replicas,
            topic_metrics=TopicMetrics(Registry()),
        )

    def fetch(self, offset=None, replica_epoch=5):
        """The partitions of the response; without an offset nothing changed since the last."""
        job = self.job([] if offset is None else [offset], replica_epoch)
        self.reads = 0
        job.read()
        response = job.response()
        self._id, self._epoch = response.session_id, self._epoch + 1
        return [data for topic in response.responses for data in topic.partitions]

    def job(self, offsets, replica_epoch=5):
        """A request that names the partition with each of these offsets."""
        targets = [SessionPartition(None, TOPIC_ID, TP.partition) for _ in offsets]
        for target, offset in zip(targets, offsets, strict=True):
            target.fetch_offset, target.max_bytes = offset, 100
            target.log_start_offset = 0
        request = FetchRequest(
            replica_state=ReplicaState(self._sender, replica_epoch), min_bytes=1, max_bytes=1000
        )
        plan = self._cache.plan(FetchSessionRequest(self._id, self._epoch, True, targets), 0)
        assert plan.error is ErrorCode.NONE
        return FetchJob(
            SimpleNamespace(
                services=self._services(),
                connection=SimpleNamespace(listener_name="PLAINTEXT"),
                version=13,
            ),
            request,
            plan,
        )

    @property
    def progress(self):
        return self.replica.partition.leading.followers[FOLLOWER]


@pytest.fixture
def follower(monkeypatch):
    return Session(monkeypatch, FOLLOWER)


@pytest.fixture
def consumer(monkeypatch):
    return Session(monkeypatch, CONSUMER)


def test_an_idle_partition_of_a_follower_is_not_read_but_its_fetch_counts(follower):
    assert follower.fetch(0)
    follower.replica.clock.advance(40)
    assert follower.fetch(replica_epoch=6) == []
    assert follower.reads == 0
    assert follower.progress.last_caught_up_ms == follower.replica.clock.monotonic_ms()
    assert follower.progress.broker_epoch == 6


def test_new_records_are_read(follower):
    follower.fetch(0)
    follower.replica.append("a")
    (data,) = follower.fetch()
    assert (len(data.records), follower.reads) == (1, 1)


def test_the_high_watermark_is_sent_once(follower):
    follower.fetch(0)
    follower.replica.append("a")
    follower.fetch()
    (data,) = follower.fetch(1)
    assert data.high_watermark == 1
    assert follower.fetch() == []
    assert follower.reads == 0


def test_a_change_without_new_records_wakes_no_waiting_fetch(follower):
    job = follower.job([0])
    (partition,) = job.wait_for()
    assert not job.may_have_enough(partition)
    follower.replica.append("a")
    assert job.may_have_enough(partition)


def test_a_waiting_fetch_that_names_a_partition_twice_is_read_again(follower):
    follower.replica.append("a")
    job = follower.job([0, 1])
    (partition,) = job.wait_for()
    assert job.may_have_enough(partition)


def test_a_follower_outside_the_isr_is_read_so_that_it_can_join(follower):
    follower.replica.partition.make_leader(state(leader_epoch=3, isr=(1,), replicas=(1, 2)))
    follower.fetch(0)
    follower.fetch()
    assert follower.reads == 1
    assert follower.replica.channel.proposed == [(1, 2)]


def test_a_new_leader_epoch_is_read(follower):
    follower.fetch(0)
    follower.replica.partition.make_leader(state(leader_epoch=3, isr=(1, 2), replicas=(1, 2)))
    follower.fetch()
    assert follower.reads == 1


def test_a_leader_that_resigned_answers_with_an_error(follower):
    follower.fetch(0)
    follower.replica.partition.resign()
    (data,) = follower.fetch()
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_an_idle_partition_of_a_consumer_is_not_read(consumer):
    consumer.fetch(0)
    assert (consumer.fetch(), consumer.reads) == ([], 0)
    consumer.replica.partition.make_leader(state(leader_epoch=3, isr=(1,), replicas=(1,)))
    consumer.replica.append("a")
    (data,) = consumer.fetch()
    assert len(data.records) == 1
