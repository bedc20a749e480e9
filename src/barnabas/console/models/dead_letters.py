"""Value types of dead letters: their topics, reasons, the letters, and sending them back."""

from typing import Literal

from pydantic import Field

from barnabas.console.models.common import Model, Offset, PartitionIndex
from barnabas.console.models.records import NewRecord, RecordBody

MAX_LETTERS = 500


class DeadLetterTopic(Model):
    """A topic with dead letters; `letters` counts offsets, so compaction makes it an estimate."""

    name: str
    partitions: int
    letters: int


class LetterGroup(Model):
    """Letters of one source topic with the same reason."""

    source: str | None
    reason: str
    letters: int
    resent: int
    newest_timestamp: int
    example: str = Field(description="the error message of the newest letter")


class LetterGroups(Model):
    """`complete` is False if older letters were not read."""

    groups: list[LetterGroup]
    scanned: int
    complete: bool


class LetterQuery(Model):
    source: str | None = Field(default=None, max_length=249)
    reason: str | None = Field(default=None, max_length=1000)
    limit: int = Field(default=100, ge=1, le=MAX_LETTERS)


class Letter(Model):
    """One dead letter and its origin; values are None where the letter does not name them."""

    record: RecordBody
    source: str | None
    source_partition: int | None
    source_offset: int | None
    reason: str
    message: str
    resent: bool


class LetterPage(Model):
    items: list[Letter]
    scanned: int
    complete: bool


class LetterId(Model):
    partition: PartitionIndex
    offset: Offset


class ResendBody(Model):
    """Letters to send back. `target` replaces the source topic; `edited` replaces the contents of
    a single letter.
    """

    letters: list[LetterId] = Field(min_length=1, max_length=MAX_LETTERS)
    target: str | None = Field(default=None, min_length=1, max_length=249)
    edited: NewRecord | None = None
    per_second: float = Field(default=10, gt=0, le=1000)


class ResendProgress(Model):
    """One event while letters are sent back."""

    sent: int
    skipped: int = Field(description="letters that were sent back before")
    failed: int
    total: int
    problem: str | None = None
    last: "SentLetter | None" = None
    finished: bool = False


class SentLetter(Model):
    topic: str
    partition: int
    offset: int


class ResendResult(Model):
    status: Literal["sent", "skipped"]
    stored: SentLetter | None
