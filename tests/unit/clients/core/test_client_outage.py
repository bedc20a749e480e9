"""An unreachable cluster: when it is logged, and when an error is raised."""

import logging

import pytest
from support.cluster.broker_app import until

from barnabas.clients.core.client import KafkaClient, Outage, RepeatedWarning
from barnabas.clients.core.options import ClientOptions
from barnabas.model.config_keys.client import ADMIN_KEYS
from barnabas.model.errors import UnavailableError

REFUSED = UnavailableError("no broker can be reached: refused")


class Time:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def log(caplog):
    with caplog.at_level(logging.WARNING, "barnabas"):
        yield lambda: [record.getMessage() for record in caplog.records]


def test_a_cause_is_logged_once_in_thirty_seconds(time, log):
    warnings = RepeatedWarning(time)
    for second in range(61):
        time.now = 100.0 + second
        warnings.warn("a", "a is gone")
    warnings.warn("b", "b is gone")
    assert log() == ["a is gone"] * 3 + ["b is gone"]


def test_a_cause_that_passes_within_its_grace_is_not_logged(time, log):
    warnings = RepeatedWarning(time)
    warnings.warn("a", "a is gone", grace_s=2.0)
    time.now += 1.9
    warnings.warn("a", "a is gone", grace_s=2.0)
    assert not warnings.ended("a")
    time.now += 1.0
    warnings.warn("a", "a is gone", grace_s=2.0)
    assert log() == []
    time.now += 2.0
    warnings.warn("a", "a is gone", grace_s=2.0)
    assert log() == ["a is gone"]


def test_the_error_comes_after_the_time_limit(time, log):
    outage = Outage(1000, time)
    outage.attempt()
    assert not outage.failed(REFUSED)
    time.now += 0.9
    assert not outage.failed(REFUSED)
    assert outage.error is None
    time.now += 0.1
    assert outage.failed(REFUSED)
    assert "refused" in str(outage.error)
    outage.ended()
    assert outage.error is None
    assert outage.cause is None
    assert log()[-1] == "a broker can be reached again"


def test_a_client_that_has_reached_a_broker_keeps_trying(time):
    outage = Outage(1000, time)
    outage.attempt()
    outage.ended()
    outage.failed(REFUSED)
    time.now += 3600
    assert not outage.failed(REFUSED)
    assert outage.error is None


def test_zero_means_no_limit(time):
    outage = Outage(0, time)
    outage.attempt()
    time.now += 3600
    assert not outage.failed(REFUSED)


async def test_a_new_connection_ends_an_outage(broker, log):
    """Requests on the new connection succeed, so that nothing else needs metadata."""
    values = ADMIN_KEYS.parse({"bootstrap.servers": broker.bootstrap_servers})
    client = KafkaClient(ClientOptions.from_values(values))
    try:
        await client.refresh()
        client.outage.failed(REFUSED)
        (node_id,) = client.metadata.brokers
        await client.connection(node_id, "fetch")
        await until(lambda: client.outage.cause is None)
        assert log()[-1] == "a broker can be reached again"
    finally:
        await client.close()
