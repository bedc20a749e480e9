"""A fetcher: reads partitions of one broker over one connection and fills their queues.

It never decides about leaders: a partition the broker refuses goes back to the leader finder, and
after a lost connection all of them do. Partitions whose queue is full are left out.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from barnabas.clients.connector.chunks import INVALID_OFFSET, FetchedDataChunk, PartitionTopicInfo
from barnabas.clients.connector.fetch_messages import (
    LAST_FETCH_BY_NAME,
    PartitionAnswer,
    fetch_request,
    next_fetch_offset,
    offset_request,
    read_answers,
    read_offsets,
)
from barnabas.clients.connector.settings import FetchSettings
from barnabas.clients.core.client import KafkaClient
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import TopicPartition
from barnabas.wire.messages.fetch import FetchRequest

_log = logging.getLogger(__name__)

BUSY_WAIT_MS = 5
"""How long a fetch may wait while another queue may get room at any moment."""

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
        positions = {info.place: info.fetch_offset for info in ready}
        busy = len(ready) < len(self._partitions)
        wait_ms = min(BUSY_WAIT_MS, self._settings.max_wait_ms) if busy else None
        request = fetch_request(
            positions, self._settings, self._settings.max_wait_ms if wait_ms is None else wait_ms
        )
        connection = await self._client.connection(self._broker_id, self._purpose)
        version = min(connection.version_of(FetchRequest), LAST_FETCH_BY_NAME)
        response = await connection.send(request, version=version)
        out_of_range = []
        for answer in read_answers(response, self._settings.isolation):
            info = self._partitions.get(answer.place)
            if info is None:
                continue
            if answer.code is ErrorCode.OFFSET_OUT_OF_RANGE:
                out_of_range.append(info)
            else:
                self._take_in(info, answer)
        if out_of_range:
            await self._reset(out_of_range)

    def _take_in(self, info: PartitionTopicInfo, answer: PartitionAnswer) -> None:
        if answer.code is not ErrorCode.NONE:
            _log.info("%s: %s; looking for its leader again", info.place, answer.code.name)
            self._return([info.place])
        elif answer.records:
            following = next_fetch_offset(answer.records, info.fetch_offset)
            if following > info.fetch_offset:
                chunk = FetchedDataChunk(info, info.fetch_offset, answer.records, answer.aborted)
                info.queue.put(chunk)
                info.fetch_offset = following
                # Who was served goes to the end, for a broker serves the first best.
                self._partitions[info.place] = self._partitions.pop(info.place)

    async def _reset(self, infos: list[PartitionTopicInfo]) -> None:
        """Begin anew where auto.offset.reset says, or tell the application."""
        if self._settings.reset is None:
            for info in infos:
                self._partitions.pop(info.place, None)
                info.queue.fail(_out_of_range(info))
            return
        request = offset_request(
            (info.place for info in infos), self._settings.reset, self._settings.isolation
        )
        response = await self._client.send(self._broker_id, request, purpose=self._purpose)
        found, errors = read_offsets(response)
        for info in infos:
            if info.place in found:
                _log.info("%s: no valid offset, reading from %d", info.place, found[info.place])
                info.fetch_offset = found[info.place]
                info.queue.put(FetchedDataChunk(info, info.fetch_offset, memoryview(b"")))
            else:
                self._return([info.place])
        if errors:
            _log.info("offsets of broker %d: %s", self._broker_id, errors)

    def _return(self, places: list[TopicPartition]) -> None:
        for place in places:
            self._partitions.pop(place, None)
        self._give_back(places)


def _out_of_range(info: PartitionTopicInfo) -> BrokerError:
    return BrokerError(
        ErrorCode.OFFSET_OUT_OF_RANGE,
        f"{info.place} has no valid offset and auto.offset.reset=none",
    )
