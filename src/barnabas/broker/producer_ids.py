"""Allocates producer ids that are unique in the cluster, in blocks from the metadata tree.

A block is claimed by a compare-and-set of /latest_producer_id_block, so two brokers never
allocate the same id. The unused ids of a block are lost when the broker stops.
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
    """Allocates ids; owned by the broker's loop."""

    def __init__(self, tree: MetadataTree, broker_id: BrokerId) -> None:
        self._tree = tree
        self._broker_id = broker_id
        self._next = 0
        self._last = -1
        self._claiming = asyncio.Lock()

    def try_next(self) -> int | None:
        """Returns an id of the current block, or None if a new block is needed."""
        if self._next > self._last:
            return None
        self._next += 1
        return self._next - 1

    async def next(self) -> int:
        """Returns an id; claims a new block if necessary."""
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
                raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, "all producer ids are used")
            block = ProducerIdBlockNode(self._broker_id, first, first + BLOCK_SIZE - 1)
            try:
                await self._tree.set(
                    paths.LATEST_PRODUCER_ID_BLOCK, block.encode(), version=stat.version
                )
            except BadVersionError:
                continue  # another broker took this block
            return block.first, block.last
