"""Value types of pipelines and SQL."""

from typing import Any, Literal

from pydantic import Field

from barnabas.console.models.common import Model


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
