"""A record that names a partition which the metadata does not have yet."""

from types import SimpleNamespace

import pytest

from barnabas.clients.producer import appends
from barnabas.clients.producer.appends import RecordAppends

TOPIC = "t"


class Core:
    """A core whose metadata refreshes return these partition counts, the last one for ever."""

    def __init__(self, *counts):
        self.settings = SimpleNamespace(max_block_ms=60_000)
        self.accumulator = SimpleNamespace(topics={TOPIC: SimpleNamespace(count=1)})
        self.counts = list(counts)
        self.refreshes = 0

    async def refreshed(self, topic):
        self.refreshes += 1
        return SimpleNamespace(count=self.counts.pop(0) if len(self.counts) > 1 else self.counts[0])


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(appends, "NEW_PARTITION_RETRY_S", 0)


def record(partition):
    return SimpleNamespace(topic=TOPIC, partition=partition)


async def test_metadata_is_refreshed_until_a_broker_knows_the_partition():
    core = Core(1, 1, 3)
    appender = await RecordAppends(core, None)._appender(record(2))
    assert appender.count == 3
    assert core.refreshes == 3


async def test_a_known_partition_needs_no_refresh():
    core = Core(1)
    assert (await RecordAppends(core, None)._appender(record(0))).count == 1
    assert core.refreshes == 0


async def test_the_wait_for_a_partition_ends(monkeypatch):
    monkeypatch.setattr(appends, "NEW_PARTITION_WAIT_S", 0)
    core = Core(1)
    assert (await RecordAppends(core, None)._appender(record(9))).count == 1
    assert core.refreshes == 1
