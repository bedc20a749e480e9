"""Configuration of groups, of broker loggers and of the broker, as Kafka's tools change it."""

import logging

import pytest

from barnabas.broker.topics import TopicSpec
from barnabas.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.wire.messages.list_config_resources import ListConfigResourcesRequest

pytestmark = pytest.mark.integration

TOPIC, BROKER, LOGGER, GROUP = 2, 4, 8, 32
SET, DELETE, APPEND = 0, 1, 2
INVALID_CONFIG, INVALID_REQUEST = 40, 42
SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"


async def alter(peer, kind, name, key, value, operation=SET):
    resource = AlterConfigsResource(kind, name, [AlterableConfig(key, operation, value)])
    answer = await peer.call(IncrementalAlterConfigsRequest([resource], False), 1)
    return answer.responses[0].error_code


async def describe(peer, kind, name):
    resource = DescribeConfigsResource(kind, name, None)
    answer = await peer.call(DescribeConfigsRequest([resource], True, False), 4)
    assert answer.results[0].error_code == 0
    return {
        item.name: (item.value, [(s.name, s.value, s.source) for s in item.synonyms])
        for item in answer.results[0].configs
    }


async def heartbeat_interval(peer):
    await peer.call(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), 4)
    request = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )
    while (answer := await peer.call(request, 1)).error_code in (14, 15, 16):
        pass
    assert answer.error_code == 0
    return answer.heartbeat_interval_ms


async def test_settings_of_a_group_reach_its_members(peer, broker_app):
    assert await heartbeat_interval(peer) == 5_000
    assert await alter(peer, GROUP, "g", HEARTBEAT, "7000") == 0
    assert await alter(peer, GROUP, "g", SESSION, "50000") == 0
    assert await heartbeat_interval(peer) == 7_000
    assert (await describe(peer, GROUP, "g"))[SESSION] == (
        "50000",
        [(SESSION, "50000", 8), (f"group.{SESSION}", "45000", 5)],
    )
    listed = await peer.call(ListConfigResourcesRequest([GROUP]), 1)
    assert [item.resource_name for item in listed.config_resources] == ["g"]
    assert await alter(peer, GROUP, "g", HEARTBEAT, None, DELETE) == 0
    assert await heartbeat_interval(peer) == 5_000


async def test_settings_of_a_group_survive_a_restart(start, connect):
    broker = await start()
    assert await alter(await connect(broker), GROUP, "g/1", HEARTBEAT, "7000") == 0
    await broker.stop()
    again = await connect(await start())
    assert (await describe(again, GROUP, "g/1"))[HEARTBEAT][0] == "7000"
    assert (await describe(again, GROUP, "other"))[HEARTBEAT][0] == "5000"


@pytest.mark.parametrize(
    ("name", "key", "value", "code"),
    [
        ("g", SESSION, "1", INVALID_CONFIG),
        ("g", SESSION, "70000", INVALID_CONFIG),
        ("g", SESSION, "x", INVALID_CONFIG),
        ("g", HEARTBEAT, "60000", INVALID_CONFIG),
        ("g", "bogus", "1", INVALID_CONFIG),
        ("g", "share.session.timeout.ms", "50000", INVALID_CONFIG),
        ("", SESSION, "50000", INVALID_REQUEST),
    ],
)
async def test_bad_settings_of_a_group(peer, name, key, value, code):
    assert await alter(peer, GROUP, name, key, value) == code


@pytest.fixture
def quiet_logger():
    logger = logging.getLogger("barnabas.broker")
    before = logger.level
    yield logger
    logger.setLevel(before)


async def test_log_levels_change_while_the_broker_runs(peer, broker_app, quiet_logger):
    node = str(broker_app.services.broker_id)
    assert await alter(peer, LOGGER, node, "barnabas.broker", "DEBUG") == 0
    assert quiet_logger.isEnabledFor(logging.DEBUG)
    assert (await describe(peer, LOGGER, node))["barnabas.broker"] == ("DEBUG", [])
    assert await alter(peer, LOGGER, node, "barnabas.broker", "FATAL") == 0
    assert (await describe(peer, LOGGER, node))["barnabas.broker"][0] == "FATAL"
    assert await alter(peer, LOGGER, node, "barnabas.broker", None, DELETE) == 0
    assert quiet_logger.level == logging.NOTSET


@pytest.mark.parametrize(
    ("node", "logger", "level", "operation", "code"),
    [
        (None, "root", "LOUD", SET, INVALID_CONFIG),
        (None, "no.such.logger", "DEBUG", SET, INVALID_CONFIG),
        (None, "root", None, DELETE, INVALID_REQUEST),
        (None, "root", "DEBUG", APPEND, INVALID_REQUEST),
        ("99", "root", "DEBUG", SET, INVALID_REQUEST),
        ("", "root", "DEBUG", SET, INVALID_REQUEST),
    ],
)
async def test_bad_log_levels(peer, broker_app, node, logger, level, operation, code):
    node = str(broker_app.services.broker_id) if node is None else node
    assert await alter(peer, LOGGER, node, logger, level, operation) == code


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("num.io.threads", "9", 0),
        ("num.io.threads", "100", INVALID_REQUEST),
        ("num.io.threads", "3", INVALID_REQUEST),
        ("num.network.threads", "4", 0),
        ("log.cleaner.threads", "2", 0),
        ("background.threads", "12", 0),
        ("num.recovery.threads.per.data.dir", "2", 0),
        ("num.replica.fetchers", "2", 0),
        ("log.cleaner.backoff.ms", "1000", 0),
        ("log.cleaner.dedupe.buffer.size", "134217728", 0),
        ("metric.reporters", "", 0),
        ("num.partitions", "3", INVALID_REQUEST),
        ("group.consumer.session.timeout.ms", "45000", INVALID_REQUEST),
    ],
)
async def test_keys_of_the_broker_are_dynamic_where_kafkas_are(peer, key, value, code):
    assert await alter(peer, BROKER, "", key, value) == code


async def test_synonyms_are_those_of_kafka(peer, broker_app):
    await alter(peer, BROKER, "", "log.retention.ms", "1000")
    node = await describe(peer, BROKER, str(broker_app.services.broker_id))
    assert node["log.retention.ms"] == (
        "1000",
        [("log.retention.ms", "1000", 3), ("log.retention.hours", "168", 5)],
    )
    for key in ("advertised.listeners", "broker.rack", "log.roll.ms", "ssl.keystore.location"):
        assert node[key][1] == []
    await broker_app.services.topics.create(TopicSpec("t", 1, 1))
    await broker_app.services.topics.wait_for_leaders("t", 1, 30_000)
    topic = await describe(peer, TOPIC, "t")
    assert topic["retention.ms"] == node["log.retention.ms"]
    for key in ("flush.ms", "segment.ms", "leader.replication.throttled.replicas"):
        assert topic[key][1] == []
