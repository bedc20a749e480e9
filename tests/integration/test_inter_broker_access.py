"""Commands between brokers are served to brokers only."""

import asyncio
import logging

import pytest
from support.security.secure_broker import AUTHORIZER

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.runtime.clock import SystemClock
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.alter_partition import AlterPartitionRequest
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.controlled_shutdown import ControlledShutdownRequest
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from barnabas.wire.messages.leader_and_isr import LeaderAndIsrRequest
from barnabas.wire.messages.metadata import MetadataRequest
from barnabas.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaRequest,
    StopReplicaTopicState,
)
from barnabas.wire.messages.update_metadata import UpdateMetadataRequest
from barnabas.zk.sqlite_tree import EmbeddedStore

pytestmark = pytest.mark.integration

HIGH_EPOCH = 1_000_000
COMMANDS = [
    (UpdateMetadataRequest(controller_id=1, controller_epoch=HIGH_EPOCH, broker_epoch=-1), 8),
    (LeaderAndIsrRequest(1, False, HIGH_EPOCH, -1), 7),
    (
        StopReplicaRequest(
            1,
            False,
            HIGH_EPOCH,
            -1,
            topic_states=[StopReplicaTopicState("t", [StopReplicaPartitionState(0, -2, True)])],
        ),
        4,
    ),
    (ControlledShutdownRequest(broker_id=1, broker_epoch=-1), 3),
    (AlterPartitionRequest(broker_id=1, broker_epoch=-1), 3),
]
NAMES = [type(request).__name__ for request, _ in COMMANDS]


async def make_topic(peer):
    request = CreateTopicsRequest([CreatableTopic("t", 1, 1)], timeout_ms=10_000)
    assert (await peer.call(request, 7)).topics[0].error_code == 0


@pytest.mark.parametrize(("request_", "version"), COMMANDS, ids=NAMES)
async def test_a_single_broker_serves_no_controller_commands(
    request_, version, broker_app, connect, caplog
):
    client = await connect(broker_app)
    await make_topic(client)
    intruder = await connect(broker_app)
    with caplog.at_level(logging.WARNING):
        intruder.send(request_, version)
        assert await intruder.is_closed()
    assert ApiKey(request_.API_KEY).name in caplog.text
    answer = await client.call(MetadataRequest(topics=None), 9)
    assert [topic.name for topic in answer.topics] == ["t"]
    assert [broker.node_id for broker in answer.brokers] == [broker_app.services.broker_id]


async def test_a_single_broker_does_not_advertise_them(peer):
    answer = await peer.call(ApiVersionsRequest(), 0)
    advertised = {item.api_key for item in answer.api_keys}
    assert advertised.isdisjoint({request.API_KEY for request, _ in COMMANDS})
    assert ApiKey.WRITE_TXN_MARKERS in advertised  # administrators abort transactions with it


# --- clusters ------------------------------------------------------------------------------------


@pytest.fixture
async def cluster_member(tmp_path):
    """`await cluster_member(settings)`: a broker of a cluster of one, on a store that others
    might share."""
    stack = []

    async def run(settings):
        store = EmbeddedStore(SystemClock(), tmp_path / "metadata.sqlite")
        stack.append(store.close)
        given = {"log.dirs": str(tmp_path / "data"), **settings}
        broker = Broker(BrokerConfig.parse(given), store=store)
        await broker.start()
        stack.append(broker.stop)
        return broker

    yield run
    for end in reversed(stack):
        await end()


OLD_COMMAND = UpdateMetadataRequest(controller_id=1, controller_epoch=0, broker_epoch=-1)


TWO_LISTENERS = {
    "listeners": "BROKERS://127.0.0.1:0,CLIENTS://127.0.0.1:0",
    "listener.security.protocol.map": "BROKERS:PLAINTEXT,CLIENTS:PLAINTEXT",
    "inter.broker.listener.name": "BROKERS",
}


async def test_a_cluster_rejects_commands_on_other_listeners(cluster_member, connect, caplog):
    broker = await cluster_member(TWO_LISTENERS)
    peer = await connect(broker, broker.ports["CLIENTS"])
    peer.send(OLD_COMMAND, 8)
    assert await peer.is_closed()
    assert "inter-broker listener BROKERS" in caplog.text


async def test_a_cluster_accepts_commands_from_the_address_of_a_broker(cluster_member, connect):
    broker = await cluster_member(TWO_LISTENERS)
    peer = await connect(broker, broker.ports["BROKERS"])
    assert (await peer.call(OLD_COMMAND, 8)).error_code != 0  # fenced: the epoch is an old one


async def test_a_cluster_rejects_commands_from_other_addresses(cluster_member, connect, caplog):
    settings = {
        **TWO_LISTENERS,
        "advertised.listeners": "BROKERS://192.0.2.7:9092,CLIENTS://192.0.2.7:9093",
    }
    broker = await cluster_member(settings)
    peer = await connect(broker, broker.ports["BROKERS"])
    peer.send(OLD_COMMAND, 8)
    assert await peer.is_closed()
    assert "not the address of a registered broker" in caplog.text


async def test_rejections_are_logged_at_a_limited_rate(broker_app, connect, caplog):
    command = COMMANDS[0][0]
    peers = [await connect(broker_app) for _ in range(20)]
    for peer in peers:
        peer.send(command, 8)
    await asyncio.gather(*(peer.is_closed() for peer in peers))
    lines = [line for line in caplog.messages if "UPDATE_METADATA" in line]
    assert 1 <= len(lines) <= 3


async def test_the_authorizer_still_decides_in_a_cluster(cluster_member, connect):
    broker = await cluster_member({**TWO_LISTENERS, "authorizer.class.name": AUTHORIZER})
    peer = await connect(broker, broker.ports["BROKERS"])
    assert (await peer.call(OLD_COMMAND, 8)).error_code == 31
