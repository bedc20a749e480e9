"""Brokers of one cluster on the test's loop; tests can access their sessions."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from unittest.mock import patch

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.testing.cluster import CLUSTER_DEFAULTS
from barnabas.zk import kazoo_tree


class Member:
    """One broker and its session."""

    def __init__(self, broker, tree):
        self.broker = broker
        self.tree = tree

    @property
    def services(self):
        return self.broker.services

    @property
    def broker_id(self):
        return self.services.broker_id

    def is_leader(self, topic_partition):
        partition = self.services.replicas.partition(topic_partition)
        return partition is not None and partition.is_leader

    @property
    def address(self):
        return f"127.0.0.1:{self.broker.port}"


@asynccontextmanager
async def members(count, connect_string, directory, filesystems=None, per_broker=None, **settings):
    """`count` running brokers on one ZooKeeper; `per_broker` maps keys to functions of the id."""
    async with AsyncExitStack() as stack:
        started = []
        for number in range(1, count + 1):
            values = {
                **CLUSTER_DEFAULTS,
                "broker.id": number,
                "listeners": "PLAINTEXT://127.0.0.1:0",
                "log.dirs": f"{directory}/{number}/one,{directory}/{number}/two",
                "zookeeper.connect": connect_string,
                "controlled.shutdown.enable": False,
                **settings,
                **{key: value(number) for key, value in (per_broker or {}).items()},
            }
            filesystem = (filesystems or {}).get(number)
            started.append(await start(stack, BrokerConfig.parse(values), filesystem))
        yield started


async def start(stack, config, filesystem=None):
    trees = []
    connect = kazoo_tree.connect

    async def remembered(*args, **kwargs):
        trees.append(await connect(*args, **kwargs))
        return trees[-1]

    with patch.object(kazoo_tree, "connect", remembered):
        broker = Broker(config, filesystem=filesystem)
        await broker.start()
    stack.push_async_callback(broker.stop)
    return Member(broker, trees[0])


async def until(condition, timeout=60.0):
    async with asyncio.timeout(timeout):
        while not condition():
            await asyncio.sleep(0.02)
