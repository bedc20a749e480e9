"""A fetcher: reads partitions of one broker over one connection and fills their queues.

It never decides about leaders: a partition the broker refuses goes back to the leader finder, and
after a lost connection all of them do. Partitions whose queue is full are left out.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from barnabas.clients.connector.chunks import INVALID_OFFSET, FetchedDataChunk, PartitionTopicInfo
from barnabas.clients.connector.settings import FetchSettings
from barnabas.clients.core.apis.common import raise_for
from barnabas.clients.core.apis.fetch import (
    FetchOptions,
    FetchSelection,
    FetchTarget,
    aborted_transactions,
    fetch_request,
    fetched_partitions,
    next_fetch_offset,
)
from barnabas.clients.core.apis.list_offsets import (
    OffsetAndTimestamp,
    OffsetQuery,
    list_offsets_request,
    read_list_offsets,
)
from barnabas.clients.core.client import KafkaClient
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ProtocolError
from barnabas.model.ids import ZERO_UUID, TopicPartition
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData

_log = logging.getLogger(__name__)

BUSY_WAIT_MS = 5
"""How long a fetch may wait while another queue may get room at any moment."""

MAX_RESPONSE_BYTES = 2**31 - 1

GiveBack = Callable[[Iterable[TopicPartition]], None]


class Fetcher:
    """One task; `start`, then `add` partitions, `stop` at the end. Owned by the loop."""

    def __init__(
        self,
        client: KafkaClient,
        broker_id: int,
        purpose: str,
        settings: FetchSettings,
        give_back: GiveBack,
    ) -> None:
        self._client = client
        self._broker_id = broker_id
        self._purpose = purpose
        self._settings = settings
        self._give_back = give_back
        self._partitions: dict[TopicPartition, PartitionTopicInfo] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return not self._partitions

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name=self._purpose)

    def initiate_stop(self) -> None:
        """From now on nothing more comes into any queue."""
        self._partitions.clear()
        if self._task is not None:
            self._task.cancel()

    async def stop(self) -> None:
        """Stop, and wait for the task's end."""
        self.initiate_stop()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    def add(self, infos: Iterable[PartitionTopicInfo]) -> None:
        self._partitions.update((info.place, info) for info in infos)
        self._wake.set()

    def wake(self) -> None:
        """A queue has room again."""
        self._wake.set()

    # -- inside --------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            ready = [info for info in self._partitions.values() if not info.queue.full]
            if not ready:
                await self._wake.wait()
                continue
            try:
                await self._work(ready)
            except BarnabasError as error:
                _log.info("broker %d: %s; looking for leaders again", self._broker_id, error)
                self._return(list(self._partitions))

    async def _work(self, ready: list[PartitionTopicInfo]) -> None:
        unknown = [info for info in ready if info.fetch_offset == INVALID_OFFSET]
        if unknown:
            await self._reset(unknown)
            return
        response = await self._fetch(ready)
        out_of_range = []
        for topic_partition, data in fetched_partitions(response, {}):
            info = self._partitions.get(topic_partition)
            if info is None:
                continue
            if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                out_of_range.append(info)
            elif data.error_code:
                code = ErrorCode.of(data.error_code)
                _log.info("%s: %s; looking for its leader again", topic_partition, code.name)
                self._return([topic_partition])
            else:
                self._enqueue(info, data)
        if out_of_range:
            await self._reset(out_of_range)

    async def _fetch(self, ready: list[PartitionTopicInfo]) -> FetchResponse:
        """Sends a full fetch request, outside a fetch session and with topic names."""
        settings = self._settings
        busy = len(ready) < len(self._partitions)
        wait_ms = min(BUSY_WAIT_MS, settings.max_wait_ms) if busy else settings.max_wait_ms
        targets = {
            info.place: FetchTarget(ZERO_UUID, info.fetch_offset, -1, settings.partition_max_bytes)
            for info in ready
        }
        selection = FetchSelection(targets, by_id=False)
        options = FetchOptions(wait_ms, settings.min_bytes, MAX_RESPONSE_BYTES, settings.isolation)
        connection = await self._client.connection(self._broker_id, self._purpose)
        response: FetchResponse = await connection.send(
            fetch_request(selection, options),
            version=selection.version(connection.version_of(FetchRequest)),
        )
        raise_for(response.error_code, f"fetching from broker {self._broker_id}")
        return response

    def _enqueue(self, info: PartitionTopicInfo, data: PartitionData) -> None:
        records = data.records
        if not records:
            return
        following = offset_after(records, info)
        aborted = aborted_transactions(data, self._settings.isolation)
        info.queue.put(FetchedDataChunk(info, info.fetch_offset, records, aborted))
        info.fetch_offset = following
        # A broker fills its response from the first partition on: let the others be first next.
        self._partitions[info.place] = self._partitions.pop(info.place)

    async def _reset(self, infos: list[PartitionTopicInfo]) -> None:
        """Begin anew where auto.offset.reset says, or tell the application."""
        if self._settings.reset is None:
            for info in infos:
                self._partitions.pop(info.place, None)
                info.queue.fail(_out_of_range(info))
            return
        query = OffsetQuery(self._settings.reset)
        request = list_offsets_request(
            {info.place: query for info in sorted(infos, key=lambda info: info.place)},
            self._settings.isolation,
        )
        response = await self._client.send(self._broker_id, request, purpose=self._purpose)
        listed = read_list_offsets(response)
        for info in infos:
            found = listed.get(info.place)
            if isinstance(found, OffsetAndTimestamp) and found.offset >= 0:
                _log.info("%s: no valid offset, reading from %d", info.place, found.offset)
                info.fetch_offset = found.offset
                info.queue.put(FetchedDataChunk(info, info.fetch_offset, memoryview(b"")))
            else:
                _log.info(
                    "%s: broker %d returned no offset: %s", info.place, self._broker_id, found
                )
                self._return([info.place])

    def _return(self, places: list[TopicPartition]) -> None:
        for place in places:
            self._partitions.pop(place, None)
        self._give_back(places)


def offset_after(records: memoryview, info: PartitionTopicInfo) -> int:
    """Returns the next offset to fetch; raises ProtocolError if there is no whole batch."""
    following = next_fetch_offset(records, info.fetch_offset)
    if following == info.fetch_offset:
        raise ProtocolError(f"{info.place}: no whole batch at offset {info.fetch_offset}")
    return following


def _out_of_range(info: PartitionTopicInfo) -> BrokerError:
    return BrokerError(
        ErrorCode.OFFSET_OUT_OF_RANGE,
        f"{info.place} has no valid offset and auto.offset.reset=none",
    )
