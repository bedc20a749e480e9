"""Commits: what was consumed of the owned partitions, or what the application says."""

import asyncio
from collections.abc import Callable, Collection, Iterable

from barnabas.clients.connector.chunks import INVALID_OFFSET, PartitionTopicInfo
from barnabas.clients.connector.offset_storage import Offsets, OffsetStorage, with_retries
from barnabas.clients.connector.settings import OffsetSettings
from barnabas.model.group_metadata import OffsetAndMetadata
from barnabas.model.ids import TopicPartition


class Committer:
    """One commit at a time: an older one that came late would take offsets back."""

    def __init__(self, storage: OffsetStorage, settings: OffsetSettings) -> None:
        self._storage = storage
        self._settings = settings
        self._stored: dict[TopicPartition, int] = {}
        self._lock = asyncio.Lock()

    async def fetch(self, places: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The committed offsets there are."""
        if not places:
            return {}
        found = await with_retries(
            lambda: self._storage.fetch(places),
            self._settings.commit_retries,
            self._settings.backoff_s,
        )
        self._stored.update(found)
        return found

    async def commit_consumed(
        self, owned: Callable[[], Iterable[PartitionTopicInfo]], retry: bool
    ) -> None:
        """Commit what was consumed and is not stored yet, of what is owned when it is our turn."""
        async with self._lock:
            offsets = {
                info.place: OffsetAndMetadata(info.consumed_offset)
                for info in owned()
                if info.consumed_offset not in (INVALID_OFFSET, self._stored.get(info.place))
            }
            await self._commit(offsets, retry)

    async def commit(self, offsets: Offsets, retry: bool) -> None:
        """Commit these, whoever owns the partitions."""
        async with self._lock:
            await self._commit(offsets, retry)

    def forget(self) -> None:
        """Others may commit from now on; what is stored must be read again."""
        self._stored.clear()

    async def _commit(self, offsets: Offsets, retry: bool) -> None:
        if not offsets:
            return
        retries = self._settings.commit_retries if retry else 0
        await with_retries(lambda: self._storage.commit(offsets), retries, self._settings.backoff_s)
        self._stored.update((place, given.offset) for place, given in offsets.items())
