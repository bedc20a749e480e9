"""Lines of the audit log on their way to a topic: order, retries, limits."""

import asyncio
from types import SimpleNamespace

import pytest

from barnabas.broker.access import audit
from barnabas.broker.access.audit import AuditTopic
from barnabas.model.errors import UnavailableError
from barnabas.records.batch import parse_header
from barnabas.records.reader import iter_raw
from barnabas.testing.virtual_clock import VirtualClock
from barnabas.wire.messages import produce


class Leader:
    """Broker 1, which stores the records of produce requests; may be unreachable."""

    def __init__(self):
        self.stored = []
        self.failures = 0
        self.error_code = 0
        self.refused = 0

    def to(self, broker_id):
        assert broker_id == 1
        return self

    async def request(self, request, *, version, timeout_s):
        if self.failures:
            self.failures -= 1
            raise UnavailableError("broker 1 cannot be reached")
        data = request.topic_data[0].partition_data[0]
        answer = produce.PartitionProduceResponse(0, self.error_code)
        self.refused += bool(self.error_code)
        if not self.error_code:
            self.stored += [
                record.value for record in iter_raw(data.records, 0, parse_header(data.records))
            ]
        return produce.ProduceResponse([produce.TopicProduceResponse("audit", None, [answer])])


class Metadata:
    def __init__(self):
        self.names = set()

    def has_topic(self, name):
        return name in self.names

    def partitions(self, name):
        return {0: SimpleNamespace(leader=-1), 1: SimpleNamespace(leader=1)}


@pytest.fixture
def leader():
    return Leader()


@pytest.fixture
def writer(leader, monkeypatch):
    monkeypatch.setattr(audit, "_PAUSE_S", 0)
    monkeypatch.setattr(audit, "_RETRY_S", 0)
    metadata = Metadata()

    async def create(spec):
        metadata.names.add(spec.name)

    async def wait_for_leaders(name, partitions, timeout_ms):
        assert metadata.has_topic(name)

    topics = SimpleNamespace(create=create, wait_for_leaders=wait_for_leaders)
    return AuditTopic("audit", topics, metadata, leader, VirtualClock())


async def until(condition):
    for _ in range(100):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("the condition did not become true")


async def test_lines_are_sent_in_order_and_again_after_a_failure(writer, leader):
    leader.failures = 2
    writer.start()
    writer.put("one")
    writer.put("two")
    await until(lambda: leader.stored == [b"one", b"two"])
    leader.error_code = 6
    writer.put("three")
    await until(lambda: leader.refused)
    leader.error_code = 0
    await writer.stop()
    assert leader.stored == [b"one", b"two", b"three"]


async def test_the_oldest_lines_are_dropped_when_too_many_wait(writer, leader, monkeypatch):
    monkeypatch.setattr(audit, "_MAX_LINES", 3)
    for number in range(5):
        writer.put(str(number))
    await writer.stop()
    assert leader.stored == [b"2", b"3", b"4"]


async def test_a_stop_without_the_leader_names_the_missing_lines(writer, leader, caplog):
    leader.failures = 1
    writer.put("one")
    await writer.stop()
    assert "1 lines are missing in audit" in caplog.text
