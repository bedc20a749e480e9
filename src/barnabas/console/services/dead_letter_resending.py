"""Sends dead letters back to their topics exactly once.

Each letter and a marker for it are written in one transaction. Markers are records of the compacted
topic `MARKER_TOPIC` with the key `topic id/partition/offset` of the letter. All consoles of a
cluster use one transactional id: starting the producer ends the transaction of an earlier one and
fences it. Markers are read after that, so they are complete, and they stay complete in memory for
as long as commits succeed. A console that was fenced starts again and reads the markers again. A
letter is therefore written at most once, however often and wherever "send back" is clicked, and a
crash between the two records leaves neither.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from barnabas.console.services.records.transfer import SendsRecords
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.record_metadata import RecordMetadata
from barnabas.model.records import Header

MARKER_TOPIC = "_barnabas_console_resent"
TRANSACTIONAL_ID = "barnabas-console-dead-letters"
_ATTEMPTS = 3


class TransactionalProducer(SendsRecords, Protocol):
    """The part of the asyncio Producer that sending back needs."""

    async def init_transactions(self) -> None: ...

    async def begin_transaction(self) -> None: ...

    async def commit_transaction(self) -> None: ...

    async def abort_transaction(self) -> None: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class OutgoingLetter:
    """A record to write, and the key of the marker for its letter."""

    marker: str
    topic: str
    key: bytes | None
    value: bytes | None
    headers: Sequence[Header]
    partition: int | None
    timestamp: int | None


class Resender:
    """Owns the transactional producer; one letter at a time.

    Args:
        make_producer: Returns a producer with the given transactional id.
        read_markers: Returns the keys of all committed markers; creates their topic if needed.
    """

    def __init__(
        self,
        make_producer: Callable[[str], TransactionalProducer],
        read_markers: Callable[[], Awaitable[set[str]]],
    ) -> None:
        self._make_producer = make_producer
        self._read_markers = read_markers
        self._producer: TransactionalProducer | None = None
        self._resent: set[str] = set()
        self._resend_lock = asyncio.Lock()

    async def send(self, letter: OutgoingLetter) -> RecordMetadata | None:
        """Sends a letter back; returns None if it was sent back before."""
        async with self._resend_lock:
            for left in range(_ATTEMPTS - 1, -1, -1):
                try:
                    return await self._send(letter)
                except BarnabasError as error:
                    await self._discard()
                    if not left or not _may_retry(error):
                        raise
        raise AssertionError("unreachable")

    async def close(self) -> None:
        await self._discard()

    async def _send(self, letter: OutgoingLetter) -> RecordMetadata | None:
        producer = await self._started()
        if letter.marker in self._resent:
            return None
        await producer.begin_transaction()
        try:
            sent = await producer.send(
                letter.topic,
                letter.value,
                key=letter.key,
                headers=letter.headers,
                partition=letter.partition,
                timestamp=letter.timestamp,
            )
            marker = json.dumps({"topic": letter.topic}).encode()
            marked = await producer.send(MARKER_TOPIC, marker, key=letter.marker.encode())
            stored, _ = await asyncio.gather(sent, marked)
        except BarnabasError:
            with suppress(BarnabasError):  # a fenced producer cannot abort; the error above decides
                await producer.abort_transaction()
            raise
        await producer.commit_transaction()
        self._resent.add(letter.marker)
        return stored

    async def _started(self) -> TransactionalProducer:
        if self._producer is None:
            await self._read_markers()  # creates the topic before a transaction needs it
            self._producer = self._make_producer(TRANSACTIONAL_ID)
            await self._producer.init_transactions()
            self._resent = await self._read_markers()
        return self._producer

    async def _discard(self) -> None:
        """Closes the producer; the next letter starts a new one and reads the markers again."""
        producer, self._producer = self._producer, None
        self._resent = set()
        if producer is not None:
            try:
                await producer.close()
            except BarnabasError:
                return  # fenced or unreachable: the next start ends its transaction


def _may_retry(error: BarnabasError) -> bool:
    """Returns whether a new producer may succeed: after fencing and transient errors."""
    if not isinstance(error, BrokerError):
        return False
    fenced = (
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
    )
    return error.code in fenced or error.code.retriable
