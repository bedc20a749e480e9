"""Dead letters: their origin and reason by their headers, lists, and sending them back.

Headers of Barnabas (`dlq.*`), of Kafka Connect (`__connect.errors.*`) and of Spring Kafka
(`kafka_dlt-*`, with numbers as big-endian bytes) are read. `dead_letter_resending` writes.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from barnabas.admin import AsyncAdmin
from barnabas.console.models.pipelines import (
    DeadLetterTopic,
    Letter,
    LetterGroup,
    LetterGroups,
    LetterId,
    LetterPage,
    LetterQuery,
    ResendBody,
    ResendProgress,
    SentLetter,
)
from barnabas.console.models.records import FormatQuery
from barnabas.console.services.dead_letter_resending import (
    MARKER_TOPIC,
    OutgoingLetter,
    Resender,
    TransactionalProducer,
)
from barnabas.console.services.records.bodies import record_body
from barnabas.console.services.records.browsing import Browser
from barnabas.console.services.records.decoding import visible
from barnabas.console.services.records.log_entries import LogEntry
from barnabas.console.services.records.service import RecordService
from barnabas.console.services.records.transfer import new_headers
from barnabas.console.services.snapshots import ClusterSnapshots
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError
from barnabas.model.records import Header
from barnabas.records.documents import decode_bytes

SUFFIXES = (".dlq", "-dlq", ".dlt", "-dlt", ".DLT", "-dead-letters")
UNKNOWN_REASON = "unknown"
_MAX_MESSAGE = 1000
_NAMES = {
    "topic": ("dlq.topic", "__connect.errors.topic", "kafka_dlt-original-topic"),
    "partition": (
        "dlq.partition",
        "__connect.errors.partition",
        "kafka_dlt-original-partition",
    ),
    "offset": ("dlq.offset", "__connect.errors.offset", "kafka_dlt-original-offset"),
    "reason": (
        "dlq.error.class",
        "__connect.errors.exception.class.name",
        "kafka_dlt-exception-fqcn",
    ),
    "message": (
        "dlq.error.message",
        "__connect.errors.exception.message",
        "kafka_dlt-exception-message",
    ),
}
_PREFIXES = ("dlq.", "__connect.errors.", "kafka_dlt-")
MAX_SCANNED = 5000
RESENT_FROM = "resent.from"


@dataclass(frozen=True, slots=True)
class Origin:
    """The record from which a letter was made, and the failure; None if a header is missing."""

    topic: str | None
    partition: int | None
    offset: int | None
    reason: str
    message: str


def origin_of(entry: LogEntry) -> Origin:
    headers = dict(entry.headers)
    message = _text(_first(headers, "message"))
    return Origin(
        _text(_first(headers, "topic")),
        _number(_first(headers, "partition")),
        _number(_first(headers, "offset")),
        visible(_text(_first(headers, "reason")) or UNKNOWN_REASON),
        visible((message or "")[:_MAX_MESSAGE]),
    )


def original_headers(entry: LogEntry) -> list[Header]:
    """Returns the headers that the record had before it became a dead letter."""
    return [(name, value) for name, value in entry.headers if not name.startswith(_PREFIXES)]


def _first(headers: Mapping[str, bytes | None], part: str) -> bytes | None:
    return next((headers[name] for name in _NAMES[part] if headers.get(name) is not None), None)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="backslashreplace")


def _number(data: bytes | None) -> int | None:
    """Returns a number from decimal text, or from 4 or 8 bytes.

    >>> _number(b"12"), _number(b"\\0\\0\\0\\7"), _number(b"x")
    (12, 7, None)
    """
    if data is None:
        return None
    if data.isdigit():
        return int(data) if len(data) < 20 else None
    return int.from_bytes(data, "big") if len(data) in (4, 8) else None


class InvalidResendError(LocalError):
    """A letter cannot be sent back as requested."""


class DeadLetterClients(Protocol):
    """The clients of a console that dead letters need."""

    @property
    def admin(self) -> AsyncAdmin: ...

    async def partitions(self, topic: str) -> list[int]: ...

    def transactional_producer(self, transactional_id: str) -> TransactionalProducer: ...


class DeadLetterService:
    def __init__(
        self, clients: DeadLetterClients, snapshots: ClusterSnapshots, records: RecordService
    ) -> None:
        self._clients = clients
        self._snapshots = snapshots
        self._records = records
        self._resender = Resender(clients.transactional_producer, self._read_markers)

    async def close(self) -> None:
        await self._resender.close()

    async def topics(self) -> list[DeadLetterTopic]:
        """Returns the topics whose names end like those of dead letters."""
        topics = (await self._snapshots.current()).topics
        found = []
        for name in sorted(name for name in topics if name.endswith(SUFFIXES)):
            bounds = await self._records.reader.bounds(name, None)
            letters = sum(item.end - item.start for item in bounds)
            found.append(DeadLetterTopic(name=name, partitions=len(bounds), letters=letters))
        return found

    async def groups(self, topic: str) -> LetterGroups:
        """Returns the newest letters by source topic and reason."""
        entries, complete = await self._newest(topic)
        markers = await self._markers_of(topic)
        found: dict[tuple[str | None, str], list[tuple[LogEntry, Origin]]] = {}
        for entry in entries:
            origin = origin_of(entry)
            found.setdefault((origin.topic, origin.reason), []).append((entry, origin))
        groups = [
            LetterGroup(
                source=source,
                reason=reason,
                letters=len(items),
                resent=sum((item.partition, item.offset) in markers for item, _ in items),
                newest_timestamp=items[-1][0].timestamp,
                example=items[-1][1].message,
            )
            for (source, reason), items in found.items()
        ]
        groups.sort(key=lambda item: -item.letters)
        return LetterGroups(groups=groups, scanned=len(entries), complete=complete)

    async def letters(self, topic: str, query: LetterQuery) -> LetterPage:
        """Returns the newest letters of a source and a reason, the newest first."""
        entries, complete = await self._newest(topic)
        markers = await self._markers_of(topic)
        decoder = self._records.decoder(FormatQuery())
        items: list[Letter] = []
        for entry in reversed(entries):
            origin = origin_of(entry)
            if query.source not in (None, origin.topic) or query.reason not in (
                None,
                origin.reason,
            ):
                continue
            if len(items) >= query.limit:
                complete = False
                break
            await decoder.prepare([entry])
            items.append(
                Letter(
                    record=record_body(entry, decoder.decode(entry)),
                    source=origin.topic,
                    source_partition=origin.partition,
                    source_offset=origin.offset,
                    reason=origin.reason,
                    message=origin.message,
                    resent=(entry.partition, entry.offset) in markers,
                )
            )
        return LetterPage(items=items, scanned=len(entries), complete=complete)

    async def resend(self, topic: str, body: ResendBody) -> AsyncIterator[ResendProgress]:
        """Returns the progress of sending letters back; mistakes raise before the first one."""
        if body.edited is not None and len(body.letters) != 1:
            raise InvalidResendError("only a single letter can be edited")
        topic_id = str((await self._clients.admin.describe_topic(topic)).topic_id)
        if body.target is not None:
            await self._clients.partitions(body.target)
        return self._resend(topic, topic_id, body)

    async def _resend(
        self, topic: str, topic_id: str, body: ResendBody
    ) -> AsyncIterator[ResendProgress]:
        sent = skipped = failed = 0
        problem: str | None = None
        last: SentLetter | None = None
        loop = asyncio.get_running_loop()
        next_at = loop.time()
        for number, letter in enumerate(body.letters):
            await asyncio.sleep(max(0.0, next_at - loop.time()))
            next_at = max(next_at, loop.time() - 1) + 1 / body.per_second
            try:
                outgoing = await self._outgoing(topic, topic_id, letter, body)
                stored = await self._resender.send(outgoing)
            except BarnabasError as error:
                failed += 1
                problem = (
                    problem or f"partition {letter.partition}, offset {letter.offset}: {error}"
                )
            else:
                if stored is None:
                    skipped += 1
                else:
                    sent += 1
                    last = SentLetter(
                        topic=stored.topic, partition=stored.partition, offset=stored.offset
                    )
            yield ResendProgress(
                sent=sent,
                skipped=skipped,
                failed=failed,
                total=len(body.letters),
                problem=problem,
                last=last,
                finished=number + 1 == len(body.letters),
            )

    async def _outgoing(
        self, topic: str, topic_id: str, letter: LetterId, body: ResendBody
    ) -> OutgoingLetter:
        entry = await self._records.entry(topic, letter.partition, letter.offset)
        origin = origin_of(entry)
        target = body.target or origin.topic
        if target is None:
            raise InvalidResendError("the letter does not name its source topic; give a target")
        existing = await self._clients.partitions(target)
        key, value, headers = entry.key, entry.value, original_headers(entry)
        partition = origin.partition if target == origin.topic else None
        timestamp = entry.timestamp if entry.timestamp >= 0 else None
        if body.edited is not None:
            edited = body.edited
            try:
                key = decode_bytes(edited.key, edited.key_encoding)
                value = decode_bytes(edited.value, edited.value_encoding)
                headers = new_headers(edited)
            except ValueError as error:
                raise InvalidResendError(str(error)) from None
            if key != entry.key:
                partition = None
            partition = edited.partition if edited.partition is not None else partition
            timestamp = edited.timestamp or timestamp
        headers.append((RESENT_FROM, f"{topic}/{letter.partition}/{letter.offset}".encode()))
        return OutgoingLetter(
            f"{topic_id}/{letter.partition}/{letter.offset}",
            target,
            key,
            value,
            headers,
            partition if partition in existing else None,
            timestamp,
        )

    async def _newest(self, topic: str) -> tuple[list[LogEntry], bool]:
        bounds = await self._records.reader.bounds(topic, None)
        page = await Browser(self._records.reader, topic, MAX_SCANNED).backward(bounds, {})
        complete = all(page.preceding[item.partition] <= item.start for item in bounds)
        entries = [entry for entry in page.entries if entry.control is None]
        return [entry for entry in entries if entry.transaction != "aborted"], complete

    async def _markers_of(self, topic: str) -> set[tuple[int, int]]:
        """Returns the letters of a topic that were sent back; for display only."""
        prefix = f"{(await self._clients.admin.describe_topic(topic)).topic_id}/"
        found: set[tuple[int, int]] = set()
        for marker in await self._read_markers(create=False):
            if marker.startswith(prefix):
                _, partition, offset = marker.split("/")
                found.add((int(partition), int(offset)))
        return found

    async def _read_markers(self, create: bool = True) -> set[str]:
        """Returns the keys of the committed markers."""
        try:
            bounds = await self._records.reader.bounds(MARKER_TOPIC, None)
        except BrokerError as error:
            if error.code is not ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                raise
            if create:
                await self._create_marker_topic()
            return set()
        found: set[str] = set()
        for item in bounds:
            chunks = self._records.reader.read_range(
                MARKER_TOPIC, item.partition, item.start, item.end
            )
            async for entries, _ in chunks:
                found.update(
                    entry.key.decode()
                    for entry in entries
                    if entry.key is not None
                    and entry.control is None
                    and entry.transaction == "committed"
                )
        return found

    async def _create_marker_topic(self) -> None:
        try:
            await self._clients.admin.create_topic(
                MARKER_TOPIC, partitions=1, configs={"cleanup.policy": "compact"}
            )
        except BrokerError as error:
            if error.code is not ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
