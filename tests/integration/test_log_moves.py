"""AlterReplicaLogDirs on a real disk: moves under load, on view, over restarts, given up."""

import asyncio
import json
import time
from contextlib import AsyncExitStack
from functools import partial

import pytest

from barnabas.admin import NewTopic, Replica
from barnabas.aio import Admin, Consumer, Producer
from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.cli.main import main
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.runtime.clock import SystemClock
from barnabas.zk.sqlite_tree import EmbeddedStore

pytestmark = pytest.mark.integration

TOPIC_PARTITION = TopicPartition("t", 0)
RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
PATIENCE_S = 60


@pytest.fixture
def dirs(tmp_path):
    return tmp_path / "one", tmp_path / "two"


@pytest.fixture
async def serve(start, dirs):
    """`await serve(settings)` runs a broker with two log directories and an admin client."""
    admins = []

    async def run(**settings):
        broker = await start({**settings, "log.dirs": ",".join(map(str, dirs))})
        admin = Admin(client(broker))
        await admin.__aenter__()
        admins.append(admin)
        return broker, admin

    yield run
    for admin in admins:
        await admin.__aexit__(None, None, None)


def client(broker, **more):
    return {"bootstrap.servers": f"127.0.0.1:{broker.port}", **more}


def replica(broker, topic_partition=TOPIC_PARTITION):
    return Replica(*topic_partition, broker.services.broker_id)


async def create(broker, admin, path):
    """Create the topic in one of the directories, which is requested before the replica exists."""
    results = await admin.alter_replica_log_dirs({replica(broker): str(path)})
    assert results.errors[replica(broker)].code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    (await admin.create_topics([NewTopic("t", 1)])).check()
    assert await whereabouts(admin) == {str(path): False}


async def fill(broker, count, size=1000):
    async with Producer(client(broker, **{"linger.ms": 5})) as producer:
        for number in range(count):
            await producer.send("t", b"%d" % number + bytes(size))


async def whereabouts(admin):
    """The directories of the partition, and whether it is on its way there."""
    found = (await admin.describe_log_dirs(partitions=[TOPIC_PARTITION])).check()
    return {
        item.path: item.replicas[TOPIC_PARTITION].future
        for dirs in found.values()
        for item in dirs
        if TOPIC_PARTITION in item.replicas
    }


async def until(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not await condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def arrived(admin, path):
    async def there():
        return await whereabouts(admin) == {str(path): False}

    await until(there)


async def values(broker, count):
    async with Consumer(client(broker, **{"auto.offset.reset": "earliest"})) as consumer:
        consumer.assign([TOPIC_PARTITION])
        seen = []
        while len(seen) < count:
            for records in (await consumer.poll(timeout=PATIENCE_S)).values():
                seen += [int(record.value.rstrip(b"\0")) for record in records]
        return seen


@pytest.mark.parametrize("forced", [False, True], ids=["written", "forced to disk"])
async def test_a_partition_moves_while_it_is_written_to(serve, dirs, forced):
    broker, admin = await serve(**{"fsync.before.ack": forced})
    await create(broker, admin, dirs[0])
    sent = 0

    async with Producer(client(broker, **{"linger.ms": 1})) as producer:

        async def write(number):
            nonlocal sent
            for _ in range(number):
                await producer.send("t", b"%d" % sent + bytes(200))
                sent += 1

        for target in (dirs[1], dirs[0], dirs[1]):
            await write(500)
            (await admin.alter_replica_log_dirs({replica(broker): str(target)})).check()
            while await whereabouts(admin) != {str(target): False}:
                await write(50)
        await write(100)
    assert await values(broker, sent) == list(range(sent))


async def test_a_move_is_on_view_and_can_be_given_up(serve, dirs):
    broker, admin = await serve(**{RATE: 1})
    await create(broker, admin, dirs[0])
    await fill(broker, 3000)
    (await admin.alter_replica_log_dirs({replica(broker): str(dirs[1])})).check()
    moving = {str(dirs[0]): False, str(dirs[1]): True}
    assert await whereabouts(admin) == moving
    found = (await admin.describe_log_dirs()).check()[broker.services.broker_id]
    (copy,) = (item.replicas[TOPIC_PARTITION] for item in found if item.path == str(dirs[1]))
    assert 0 < copy.offset_lag <= 3000
    (await admin.alter_replica_log_dirs({replica(broker): str(dirs[0])})).check()
    assert await whereabouts(admin) == {str(dirs[0]): False}
    assert await values(broker, 3000) == list(range(3000))


async def test_a_move_goes_on_after_a_restart(serve, dirs):
    broker, admin = await serve(**{RATE: 1})
    await create(broker, admin, dirs[0])
    await fill(broker, 3000)
    (await admin.alter_replica_log_dirs({replica(broker): str(dirs[1])})).check()
    await broker.stop()
    broker, admin = await serve()
    await arrived(admin, dirs[1])
    assert await values(broker, 3000) == list(range(3000))


async def test_a_topic_that_moves_can_be_deleted(serve, dirs):
    broker, admin = await serve(**{RATE: 1, "log.segment.delete.delay.ms": 0})
    await create(broker, admin, dirs[0])
    await fill(broker, 3000)
    (await admin.alter_replica_log_dirs({replica(broker): str(dirs[1])})).check()
    (await admin.delete_topics(["t"])).check()

    async def gone():
        return not [path for directory in dirs for path in directory.glob("t-0*")]

    await until(gone)


async def test_moves_to_unknown_directories_and_of_unknown_replicas_fail(serve, dirs):
    broker, admin = await serve()
    await create(broker, admin, dirs[1])
    moves = {replica(broker): "/nowhere", replica(broker, TopicPartition("u", 3)): str(dirs[0])}
    results = await admin.alter_replica_log_dirs(moves)
    assert [error.code for error in results.errors.values()] == [
        ErrorCode.LOG_DIR_NOT_FOUND,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ]
    (await admin.alter_replica_log_dirs({replica(broker): str(dirs[1])})).check()
    assert await whereabouts(admin) == {str(dirs[1]): False}


async def test_a_reassignment_names_directories(serve, dirs, tmp_path, capsys):
    broker, admin = await serve(**{RATE: 1})
    await create(broker, admin, dirs[0])
    await fill(broker, 3000)
    number = broker.services.broker_id
    path = tmp_path / "plan.json"
    item = {"topic": "t", "partition": 0, "replicas": [number], "log_dirs": [str(dirs[1])]}
    path.write_text(json.dumps({"version": 1, "partitions": [item]}))
    tool = ["kafka-reassign-partitions", "--bootstrap-server", f"127.0.0.1:{broker.port}"]
    tool += ["--reassignment-json-file", str(path)]

    async def say(*arguments):
        assert await asyncio.to_thread(main, [*tool, *arguments]) == 0
        return capsys.readouterr().out

    started = f"Successfully started moving log directory to {dirs[1]} for replica t-0 with broker"
    assert f"{started} {number}" in await say("--execute")
    assert f"replica t-0-{number} is still in progress." in await say("--verify")
    assert "Successfully started moving" in await say(
        "--execute", "--additional", "--replica-alter-log-dirs-throttle", "100000000"
    )
    await arrived(admin, dirs[1])
    assert f"replica t-0-{number} completed successfully." in await say("--verify")
    assert await values(broker, 3000) == list(range(3000))


async def test_both_replicas_move_while_they_are_written_to(tmp_path):
    async with AsyncExitStack() as stack:
        store = EmbeddedStore(SystemClock())
        stack.push_async_callback(store.close)
        brokers = [await member(stack, store, tmp_path, number) for number in (1, 2)]
        servers = ",".join(client(broker)["bootstrap.servers"] for broker in brokers)
        settings = {"bootstrap.servers": servers}
        admin = await stack.enter_async_context(Admin(settings))
        (await admin.create_topics([NewTopic("t", assignments=[[1, 2]])])).check()
        for broker in brokers:
            await until(partial(has_it, broker))
        targets = {replica(broker): elsewhere(broker) for broker in brokers}
        sent = 0
        async with Producer({**settings, "acks": "all", "linger.ms": 1}) as producer:
            for _ in range(20):
                for _ in range(100):
                    await producer.send("t", b"%d" % sent + bytes(2000))
                    sent += 1
                if sent == 500:
                    (await admin.alter_replica_log_dirs(targets)).check()
                await producer.flush()
        for broker in brokers:
            await until(partial(is_in, broker, targets[replica(broker)]))
        assert await values(brokers[0], sent) == list(range(sent))
        await brokers[0].stop()
        assert await values(brokers[1], sent) == list(range(sent))


async def member(stack, store, tmp_path, number):
    given = {
        "broker.id": number,
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": f"{tmp_path}/{number}/one,{tmp_path}/{number}/two",
        "offsets.topic.replication.factor": 1,
    }
    broker = Broker(BrokerConfig.parse(given), store=store)
    await broker.start()
    stack.push_async_callback(broker.stop)
    return broker


async def has_it(broker):
    return broker.services.replicas.partition(TOPIC_PARTITION) is not None


def elsewhere(broker):
    """The directory that the replica is not in."""
    here = broker.services.logs.get(TOPIC_PARTITION).directory.parent
    return next(str(item.path) for item in broker.services.logs.dirs if item.path != here)


async def is_in(broker, path):
    logs = broker.services.logs
    assert logs.get(TOPIC_PARTITION) is broker.services.replicas.partition(TOPIC_PARTITION).log
    return str(logs.get(TOPIC_PARTITION).directory.parent) == path
