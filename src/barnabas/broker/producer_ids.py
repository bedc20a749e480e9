"""Producer ids that are unique in the cluster: taken from the metadata tree in blocks.

A block is claimed by a compare-and-set of /latest_producer_id_block, so two brokers never hand
out the same id; what a broker had left of a block when it stopped is never used.
"""

import asyncio

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId
from barnabas.zk import paths
from barnabas.zk.tree import BadVersionError, MetadataTree
from barnabas.zk.znodes import ProducerIdBlockNode

BLOCK_SIZE = 1000
_LAST_ID = 2**63 - 1


class ProducerIds:
    """Hands out ids; owned by the broker's loop."""

    def __init__(self, tree: MetadataTree, broker_id: BrokerId) -> None:
        self._tree = tree
        self._broker_id = broker_id
        self._next = 0
        self._last = -1
        self._claiming = asyncio.Lock()

    def try_next(self) -> int | None:
        """An id of the block at hand; None when a new block is needed."""
        if self._next > self._last:
            return None
        self._next += 1
        return self._next - 1

    async def next(self) -> int:
        """An id, claiming a block when necessary."""
        async with self._claiming:
            if (producer_id := self.try_next()) is not None:
                return producer_id
            self._next, self._last = await self._claim()
            producer_id = self.try_next()
            if producer_id is None:
                raise AssertionError("a fresh block is empty")
            return producer_id

    async def _claim(self) -> tuple[int, int]:
        while True:
            data, stat = await self._tree.get(paths.LATEST_PRODUCER_ID_BLOCK)
            first = ProducerIdBlockNode.decode(data).last + 1 if data else 0
            if first > _LAST_ID - BLOCK_SIZE:
                raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, "producer ids are used up")
            block = ProducerIdBlockNode(self._broker_id, first, first + BLOCK_SIZE - 1)
            try:
                await self._tree.set(
                    paths.LATEST_PRODUCER_ID_BLOCK, block.encode(), version=stat.version
                )
            except BadVersionError:
                continue  # another broker took this block
            return block.first, block.last
