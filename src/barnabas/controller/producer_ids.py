"""Blocks of producer ids: a counter in the tree that brokers advance a thousand at a time."""

from typing import NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId
from barnabas.zk import paths
from barnabas.zk.tree import BadVersionError, MetadataTree, NoNodeError
from barnabas.zk.znodes import ProducerIdBlockNode

BLOCK_SIZE = 1000
_LAST_ID = 2**63 - 1


class ProducerIdBlock(NamedTuple):
    """The ids from `first` to `last`, both included, belong to whoever got the block."""

    first: int
    last: int


async def next_producer_id_block(tree: MetadataTree, broker_id: BrokerId) -> ProducerIdBlock:
    """Take the next block; of several brokers that try at once, all but one try again."""
    while True:
        try:
            data, stat = await tree.get(paths.LATEST_PRODUCER_ID_BLOCK)
        except NoNodeError:
            await tree.ensure_path(paths.LATEST_PRODUCER_ID_BLOCK)
            continue
        first = ProducerIdBlockNode.decode(data).last + 1 if data else 0
        if first > _LAST_ID - BLOCK_SIZE:
            raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, "all producer ids are used up")
        block = ProducerIdBlock(first, first + BLOCK_SIZE - 1)
        node = ProducerIdBlockNode(broker_id, *block)
        try:
            await tree.set(paths.LATEST_PRODUCER_ID_BLOCK, node.encode(), stat.version)
        except BadVersionError:
            continue
        return block
