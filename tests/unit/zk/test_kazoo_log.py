"""Warnings of kazoo: new ones are logged at once, repeated ones once a minute."""

import logging

import pytest

from barnabas.testing.virtual_clock import VirtualClock
from barnabas.zk.kazoo_values import REPEAT_MS, KazooLog


@pytest.fixture
def clock():
    return VirtualClock()


@pytest.fixture
def log(clock, caplog):
    caplog.set_level(logging.INFO)
    return KazooLog(logging.getLogger("barnabas.zk.kazoo"), "zk:2181", clock)


def test_a_complaint_is_reported_when_it_is_new_and_then_once_a_minute(log, clock, caplog):
    for _ in range(3):
        log.warning("Connection dropped: %s", "refused")
    log.warning("Connection dropped: %s", "reset")
    clock.advance(REPEAT_MS)
    log.warning("Connection dropped: %s", "refused")
    refused, reset = "zk:2181: Connection dropped: refused", "zk:2181: Connection dropped: reset"
    assert caplog.messages == [refused, reset, refused]
    assert log.last_problem == "Connection dropped: refused"


def test_after_a_connection_every_complaint_is_new(log, caplog):
    log.warning("Session has expired")
    log.connected()
    log.warning("Session has expired")
    assert len(caplog.messages) == 2


def test_the_rest_is_reported_as_it_is_until_the_client_is_stopped(log, caplog):
    log.info("Zookeeper connection established")
    log.close()
    log.warning("Failed connecting")
    assert caplog.messages == ["Zookeeper connection established"]
