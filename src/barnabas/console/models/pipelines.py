"""Value types of pipelines, SQL statements and dead letters."""

from typing import Any, Literal

from pydantic import Field

from barnabas.console.models.common import Model, Offset, PartitionIndex
from barnabas.console.models.records import NewRecord, RecordBody


class PhaseBody(Model):
    """A phase of a micro-batch, in Spark's words, with its time."""

    name: str
    milliseconds: int


class PipelineSummary(Model):
    """A pipeline that ran on the console's machine; figures are of the last micro-batch."""

    name: str
    state: str
    batch: int | None = None
    rows_per_second: float | None = None
    lag: int | None = None
    batch_ms: int | None = None
    state_rows: int | None = None
    started: str | None = None
    updated: str | None = None
    error: str | None = None


class TopologyNodeBody(Model):
    """A node of the drawn topology."""

    id: str
    label: str
    kind: Literal["topic", "step", "table", "format"]
    topic: str | None = None


class TopologyBody(Model):
    """Nodes and edges; edges name the ids of nodes."""

    nodes: list[TopologyNodeBody]
    edges: list[tuple[str, str]]


class PipelineDetail(Model):
    """A pipeline with phases, state and topology."""

    summary: PipelineSummary
    file: str | None = None
    checkpoint: str | None = None
    phases: list[PhaseBody] = Field(default_factory=list)
    state_bytes: int | None = None
    topology: TopologyBody | None = None


class SqlRelationItem(Model):
    """A stream or a table of `barnabas sql`."""

    name: str
    kind: str
    topic: str
    statement: str


class SqlQueryItem(Model):
    """A query that runs until it is terminated; `runs_at` is the host and path of its state."""

    query_id: str
    target: str
    sources: list[str]
    statement: str
    runs_at: str | None = None


class SqlDefinitions(Model):
    """The statements that are in effect."""

    relations: list[SqlRelationItem]
    queries: list[SqlQueryItem]


class SqlBody(Model):
    """One bounded statement: SELECT without EMIT CHANGES, SHOW, LIST, DESCRIBE or EXPLAIN."""

    statement: str = Field(min_length=1, max_length=100_000)
    limit: int = Field(1000, ge=1, le=10_000)


class SqlResultBody(Model):
    """Rows in the order of the result; `truncated` if there were more than the limit."""

    columns: list[str]
    rows: list[dict[str, Any]]
    truncated: bool
    seconds: float
    message: str | None = None


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
    """Dead letters, grouped by source topic and reason.

    `complete` is False if older letters were not read.
    """

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
    """Progress of a request that sends dead letters back to their topics."""

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
