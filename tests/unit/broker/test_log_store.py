"""Logs for replicas: whose they are, and when none may be made."""

import errno
from types import SimpleNamespace

import pytest

from barnabas.broker.log_store import LogStore
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage import LogManager
from barnabas.testing.memory_fs import MemoryFileSystem
from barnabas.testing.virtual_clock import VirtualClock

PLACE = TopicPartition("t", 0)
TOPIC_ID, ANOTHER_ID = Uuid(bytes(range(16))), Uuid(bytes(range(1, 17)))


@pytest.fixture
def logs():
    manager = LogManager(MemoryFileSystem(), ["/one", "/two"], VirtualClock())
    manager.start()
    return manager


@pytest.fixture
def store(logs):
    return LogStore(logs, SimpleNamespace(topic_values=lambda topic: {}))


def fail_one(logs):
    next(iter(logs.dirs)).health.fail(OSError(errno.EIO, "gone"))


def test_a_log_is_made_and_found_again(store):
    log = store.get_or_create(PLACE, TOPIC_ID, is_new=False)
    assert store.get_or_create(PLACE, TOPIC_ID, is_new=False) is log


def test_the_log_of_a_dead_topic_of_that_name_is_replaced(store):
    log = store.get_or_create(PLACE, TOPIC_ID, is_new=True)
    assert store.get_or_create(PLACE, ANOTHER_ID, is_new=True) is not log


def test_a_log_that_may_be_on_a_failed_disk_is_not_made_anew(store, logs):
    fail_one(logs)
    with pytest.raises(BrokerError, match="may be in /one") as caught:
        store.get_or_create(PLACE, TOPIC_ID, is_new=False)
    assert caught.value.code is ErrorCode.KAFKA_STORAGE_ERROR
    assert store.get_or_create(PLACE, TOPIC_ID, is_new=True).directory.parent.name == "two"
