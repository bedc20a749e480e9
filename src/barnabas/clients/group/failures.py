"""The reaction to a failed handler: retry, dead letter, skip, or stop."""

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from barnabas.model.errors import BarnabasError, LocalError
from barnabas.records.record import Record

logger = logging.getLogger(__name__)

POLICIES = ("retry", "dlq", "skip", "stop")
DEAD_LETTER_SUFFIX = ".dlq"
DELIVERY_SECONDS = 60.0
Handler = Callable[[Record], Any]
Pause = Callable[[float], Any]


class ProcessingError(BarnabasError):
    """A record could not be processed; `__cause__` is the exception of its handler."""

    def __init__(self, record: Record) -> None:
        super().__init__(f"{record.topic}-{record.partition} at offset {record.offset}")
        self.record = record


class DeadLetterProducer(Protocol):
    """The part of `Producer` that sends dead letters."""

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        headers: object = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> Any: ...


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """The reaction to a failed record: `on_error` with its settings. Thread-safe."""

    on_error: str
    retries: int
    backoff_s: float
    producer: DeadLetterProducer | None
    dead_letter_topic: str | None

    def __post_init__(self) -> None:
        if self.on_error not in POLICIES:
            raise LocalError(f"on_error={self.on_error!r}: must be one of {', '.join(POLICIES)}")
        if self.on_error == "dlq" and self.producer is None:
            raise LocalError("on_error='dlq' needs producer=, which sends the dead letters")

    def handle(self, handler: Handler, record: Record, pause: Pause) -> None:
        """Calls the handler and applies the policy to its error; may raise ProcessingError."""
        tries = self.retries if self.on_error in ("retry", "dlq") else 0
        for attempt in range(tries + 1):
            try:
                handler(record)
                return
            except Exception as error:  # noqa: BLE001 - a handler may raise anything
                if attempt < tries:
                    pause(self.backoff_s * 2**attempt)
                    continue
                self._failed(record, error)

    async def handle_async(self, handler: Handler, record: Record) -> None:
        """Does the same as `handle` for a coroutine function or a plain function."""
        tries = self.retries if self.on_error in ("retry", "dlq") else 0
        for attempt in range(tries + 1):
            try:
                result = handler(record)
                if inspect.isawaitable(result):
                    await result
                return
            except Exception as error:  # noqa: BLE001 - a handler may raise anything
                if attempt < tries:
                    await asyncio.sleep(self.backoff_s * 2**attempt)
                elif self.on_error == "dlq":
                    await self._send_dead_letter_async(record, error)
                else:
                    self._failed(record, error)

    def _failed(self, record: Record, error: Exception) -> None:
        if self.on_error == "skip":
            logger.warning(
                "%s-%d at offset %d is skipped: %r",
                record.topic,
                record.partition,
                record.offset,
                error,
            )
        elif self.on_error == "dlq":
            self._send_dead_letter(record, error)
        else:
            raise ProcessingError(record) from error

    def _send_dead_letter(self, record: Record, error: Exception) -> None:
        """Sends the record to the dead-letter topic and waits until it is stored."""
        try:
            self._send(record, error).result(DELIVERY_SECONDS)
        except BarnabasError as undelivered:
            raise ProcessingError(record) from undelivered

    async def _send_dead_letter_async(self, record: Record, error: Exception) -> None:
        """Does the same as `_send_dead_letter` with an asyncio producer."""
        try:
            async with asyncio.timeout(DELIVERY_SECONDS):
                sent = await self._send(record, error)
                if inspect.isawaitable(sent):
                    await sent
        except (BarnabasError, TimeoutError) as undelivered:
            raise ProcessingError(record) from undelivered

    def _send(self, record: Record, error: Exception) -> Any:
        assert self.producer is not None
        return self.producer.send(
            self.dead_letter_topic or record.topic + DEAD_LETTER_SUFFIX,
            record.value,
            key=record.key,
            headers=[*record.headers, *reason_headers(record, error)],
            timestamp=record.timestamp if record.timestamp >= 0 else None,
        )


def reason_headers(record: Record, error: Exception) -> list[tuple[str, bytes]]:
    """Returns headers with the origin of a dead letter and the error."""
    return [
        ("dlq.topic", record.topic.encode()),
        ("dlq.partition", str(record.partition).encode()),
        ("dlq.offset", str(record.offset).encode()),
        ("dlq.timestamp", str(record.timestamp).encode()),
        ("dlq.error.class", type(error).__name__.encode()),
        ("dlq.error.message", str(error).encode()),
    ]
