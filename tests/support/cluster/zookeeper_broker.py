"""Registers a broker and its topics in a ZooKeeper that it does not use, for old consumers."""

from barnabas.model.control import Endpoint
from barnabas.model.ids import ReplicaAssignment, Uuid
from barnabas.zk import paths
from barnabas.zk.kazoo_tree import connect
from barnabas.zk.znodes import BrokerNode, TopicNode


async def register(hosts, broker, topics):
    """Broker 0 and topics with so many partitions, in persistent nodes, which no session
    deletes.
    """
    base, _, chroot = hosts.partition("/")
    root = await connect(base)
    await root.ensure_path(f"/{chroot}")
    await root.close()
    tree = await connect(hosts)
    await tree.ensure_path(paths.BROKER_IDS)
    await tree.ensure_path(paths.BROKER_TOPICS)
    node = BrokerNode((Endpoint("PLAINTEXT", broker.host, broker.port, "PLAINTEXT"),))
    await tree.create(paths.broker(0), node.encode())
    for name, partitions in topics.items():
        places = {p: ReplicaAssignment((0,)) for p in range(partitions)}
        await tree.create(paths.topic(name), TopicNode(Uuid(b"t" * 16), places).encode())
    await tree.close()
