"""The options of the sink: those of Spark's own Kafka sink, and the delivery guarantee."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.model.errors import ConfigError
from barnabas.spark.options import OptionTexts, check_names, producer_settings

if TYPE_CHECKING:
    # Start-up time: `import barnabas.spark`, and with it the command line and the console, reads
    # this module, and PySpark takes a second to import.
    from pyspark.sql.types import StructType

SINK_OPTIONS = (
    "topic",
    "deliveryGuarantee",
    "queryId",
    "batchId",
    "includeHeaders",
    "timestampColumn",
)
SPARK_OPTIONS = ("checkpointLocation", "queryName", "path")
"""Options that Spark reads itself and also passes to the sink."""

QUERY_ID = "sql.streaming.queryId"
BATCH_ID = "streaming.sql.batchId"
"""Local properties of Spark's tasks with the ids of the query and the micro-batch."""

ID_PREFIX = "spark-sink"
"""Start of all transactional ids of the sink."""

BATCH_BYTES = "524288"
BUFFER_BYTES = "134217728"
"""Memory for batches of several hundred partitions; with less they are sent half empty."""
TRANSACTION_TIMEOUT_MS = "300000"


SINK_COLUMNS = {
    "key": ("binary", "string"),
    "value": ("binary", "string"),
    "topic": ("string",),
    "partition": ("int",),
    "headers": ("array<struct<key:string,value:binary>>",),
}
"""The columns that the sink writes, with their allowed types."""


class Guarantee(enum.Enum):
    """The delivery guarantee: how often a row is in the topic after retries."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"


@dataclass(frozen=True, slots=True)
class Epoch:
    """Identifies a write: the query, the micro-batch and the task."""

    query_id: str
    batch_id: int
    task: int
    first_attempt: bool = False

    @property
    def transactional_id(self) -> str:
        return f"{ID_PREFIX}-{self.query_id}-{self.task}"


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """The parsed options of a writer; pickled to the executors with each task."""

    topic: str | None
    guarantee: Guarantee
    query_id: str | None
    batch_id: int
    client: Mapping[str, str]
    timestamp_column: str | None = None
    tracing: bool = False
    """Whether tasks create OpenTelemetry spans."""

    @classmethod
    def parse(cls, given: Mapping[str, str], *, streaming: bool) -> "SinkOptions":
        """Parses the options of a query; ConfigError names the invalid option."""
        texts = OptionTexts(given)
        check_names(texts, (*SINK_OPTIONS, *SPARK_OPTIONS))
        texts.flag("includeHeaders", False)
        topic = texts.text("topic")
        if topic is not None and not topic.strip():
            raise ConfigError(f"topic={topic!r}: is empty")
        guarantee = _guarantee(texts, streaming)
        client = with_defaults(producer_settings(given))
        client.pop("tracing.enable", None)  # a span covers a task, not a record
        return cls(
            topic=topic,
            guarantee=guarantee,
            query_id=_query_id(texts, guarantee, streaming),
            batch_id=texts.number("batchId", 0),
            client=client,
            timestamp_column=texts.text("timestampColumn"),
            tracing=texts.flag("kafka.tracing.enable", False),
        )


def _guarantee(texts: OptionTexts, streaming: bool) -> Guarantee:
    """Returns the guarantee. A batch write has no epoch that identifies a replay, unless the caller
    passes one.
    """
    named = streaming or texts.text("queryId") is not None
    default = Guarantee.EXACTLY_ONCE if named else Guarantee.AT_LEAST_ONCE
    allowed = tuple(item.value for item in Guarantee)
    return Guarantee(texts.word("deliveryGuarantee", default.value, allowed))


def _query_id(texts: OptionTexts, guarantee: Guarantee, streaming: bool) -> str | None:
    query_id, batch_id = texts.text("queryId"), texts.text("batchId")
    if streaming and (query_id is not None or batch_id is not None):
        name = "queryId" if query_id is not None else "batchId"
        raise ConfigError(f"option {name!r} is for batch writes: a streaming query has its own")
    if (query_id is None) != (batch_id is None):
        raise ConfigError("options 'queryId' and 'batchId' must be set together")
    if query_id is not None and guarantee is Guarantee.AT_LEAST_ONCE:
        raise ConfigError("option 'queryId' needs deliveryGuarantee=exactly-once")
    return query_id


def with_defaults(settings: dict[str, str]) -> dict[str, str]:
    """Adds larger batches than a client's default: tasks send thousands of rows, then flush."""
    return {"batch.size": BATCH_BYTES, "buffer.memory": BUFFER_BYTES, **settings}


def check_sink_schema(
    schema: "StructType", topic: str | None, timestamp_column: str | None = None
) -> None:
    """Raises ConfigError for a missing column or a wrong type; other columns are ignored."""
    kinds = {field.name: field.dataType.simpleString() for field in schema.fields}
    if "value" not in kinds:
        raise ConfigError(f"the sink needs a column 'value'; there are: {', '.join(kinds)}")
    if topic is None and "topic" not in kinds:
        raise ConfigError("the sink needs the option 'topic' or a column 'topic'")
    if timestamp_column is not None and kinds.get(timestamp_column) != "timestamp":
        raise ConfigError(
            f"timestampColumn={timestamp_column!r}: is not a column of type timestamp"
        )
    for name, allowed in SINK_COLUMNS.items():
        kind = kinds.get(name, allowed[0])
        if kind not in allowed:
            raise ConfigError(f"column {name!r} must be {' or '.join(allowed)}, not {kind}")
