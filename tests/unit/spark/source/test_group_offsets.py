"""A query's position is committed, and a failed commit does not affect the query."""

import logging

import pytest

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.spark.source import group_offsets
from barnabas.spark.source.group_offsets import TOPIC_IDS_PARTITION, GroupMirror, StoredTopicIds

TOPIC_PARTITION = TopicPartition("a", 0)
IDS = {"a": Uuid(b"1" * 16)}


class FakeAdmin:
    """Stores committed offsets; rejects every commit while `error` is set."""

    committed: dict
    error: BrokerError | None

    def __init__(self, settings):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def alter_group_offsets(self, group, offsets):
        if self.error is not None:
            raise self.error
        self.committed[group] = offsets
        return self

    def list_group_offsets(self, groups):
        if self.error is not None:
            raise self.error
        return {group: self.committed.get(group, {}) for group in groups}

    def check(self):
        return {}


@pytest.fixture
def admin(monkeypatch):
    FakeAdmin.committed, FakeAdmin.error = {}, None
    monkeypatch.setattr(group_offsets, "Admin", FakeAdmin)
    monkeypatch.setattr(group_offsets, "PAUSE_SECONDS", 0.001)
    return FakeAdmin


def test_the_newest_position_is_written(admin):
    mirror = GroupMirror({"bootstrap.servers": "h:1"}, "g")
    for offset in range(20):
        mirror.processed({TOPIC_PARTITION: offset}, {TOPIC_PARTITION: offset + 1}, IDS)
    mirror.close()
    assert admin.committed["g"] == {TOPIC_PARTITION: 19}
    mark = StoredTopicIds.parse(admin.committed["g-topics"][TOPIC_IDS_PARTITION].metadata)
    assert mark.ids_at({TOPIC_PARTITION: 20}) == IDS
    assert GroupMirror({}, "g").topic_ids({TOPIC_PARTITION: 19}) == IDS


def test_flush_waits_for_the_commit(admin):
    mirror = GroupMirror({"bootstrap.servers": "h:1"}, "g")
    mirror.flush(0)
    mirror.processed({TOPIC_PARTITION: 7}, {TOPIC_PARTITION: 7}, IDS)
    mirror.flush(60)
    assert admin.committed["g"] == {TOPIC_PARTITION: 7}
    mirror.close()


def test_a_denied_commit_is_logged_once(admin, caplog):
    admin.error = BrokerError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    mirror = GroupMirror({"bootstrap.servers": "h:1"}, "g")
    with caplog.at_level(logging.WARNING, "barnabas.spark"):
        assert mirror.topic_ids({TOPIC_PARTITION: 1}) == {}
        for offset in range(5):
            mirror.processed({TOPIC_PARTITION: offset}, {TOPIC_PARTITION: offset}, IDS)
            mirror.flush(60)
        mirror.close()
    assert len(caplog.records) == 1
    assert "the query does not need it" in caplog.text
