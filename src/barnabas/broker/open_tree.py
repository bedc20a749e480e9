"""Opens the metadata tree: ZooKeeper, an embedded file, or a store shared with other brokers."""

import logging
from contextlib import AsyncExitStack

from barnabas.broker.config import BrokerConfig
from barnabas.model.clock import Clock
from barnabas.model.errors import UnavailableError
from barnabas.zk.sqlite_tree import EmbeddedStore
from barnabas.zk.tree import MetadataTree

_logger = logging.getLogger("barnabas.broker")

METADATA_FILE = "metadata.sqlite"


async def open_tree(
    stack: AsyncExitStack, config: BrokerConfig, clock: Clock, shared: EmbeddedStore | None
) -> MetadataTree:
    """Returns a session on the tree; the stack closes it."""
    hosts = config["zookeeper.connect"]
    if hosts is not None:
        return await _connect_to_zookeeper(stack, config, hosts)
    if shared is not None:
        session = shared.session()
        stack.push_async_callback(session.close)
        return session
    store = EmbeddedStore(clock, config.log_dirs[0] / METADATA_FILE)
    stack.push_async_callback(store.close)
    return store.session()


async def _connect_to_zookeeper(
    stack: AsyncExitStack, config: BrokerConfig, hosts: str
) -> MetadataTree:
    """Tries until a server answers: brokers and ZooKeeper may be started in any order."""
    from barnabas.zk.kazoo_tree import connect  # optional extra: kazoo

    session_ms = config["zookeeper.session.timeout.ms"]
    connect_ms = config["zookeeper.connection.timeout.ms"]
    while True:
        try:
            tree = await connect(
                hosts,
                session_timeout_s=session_ms / 1000,
                connect_timeout_s=(session_ms if connect_ms is None else connect_ms) / 1000,
                max_in_flight=config["zookeeper.max.in.flight.requests"],
            )
        except UnavailableError as error:
            _logger.warning("the broker cannot start yet, trying again: %s", error)
        else:
            stack.push_async_callback(tree.close)
            return tree
