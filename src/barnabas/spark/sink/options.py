"""The options of the sink: those of Spark's own Kafka sink, and the delivery guarantee."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.model.errors import ConfigError
from barnabas.spark.client_settings import producer_settings
from barnabas.spark.option_values import OptionTexts, check_names

SINK_OPTIONS = (
    "topic",
    "deliveryGuarantee",
    "queryId",
    "batchId",
    "includeHeaders",
    "timestampColumn",
)
SPARKS_OWN = ("checkpointLocation", "queryName", "path")
"""Options that Spark reads itself and also passes to the sink."""

BATCH_BYTES = "524288"
BUFFER_BYTES = "134217728"
"""Memory for batches of several hundred partitions; with less they are sent half empty."""
TRANSACTION_TIMEOUT_MS = "300000"


class Guarantee(enum.Enum):
    """The delivery guarantee: how often a row is in the topic after retries."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """The parsed options of a writer; pickled to the executors with each task."""

    topic: str | None
    guarantee: Guarantee
    query_id: str | None
    batch_id: int
    client: Mapping[str, str]
    timestamp_column: str | None = None

    @classmethod
    def parse(cls, given: Mapping[str, str], *, streaming: bool) -> "SinkOptions":
        """Parses the options of a query; ConfigError names the invalid option."""
        texts = OptionTexts(given)
        check_names(texts, (*SINK_OPTIONS, *SPARKS_OWN))
        texts.flag("includeHeaders", False)
        topic = texts.text("topic")
        if topic is not None and not topic.strip():
            raise ConfigError(f"topic={topic!r}: is empty")
        guarantee = _guarantee(texts, streaming)
        return cls(
            topic=topic,
            guarantee=guarantee,
            query_id=_query_id(texts, guarantee, streaming),
            batch_id=texts.number("batchId", 0),
            client=with_defaults(producer_settings(given)),
            timestamp_column=texts.text("timestampColumn"),
        )


def _guarantee(texts: OptionTexts, streaming: bool) -> Guarantee:
    """A batch write has no epoch that identifies a replay, unless the caller passes one."""
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
        raise ConfigError("options 'queryId' and 'batchId' go together")
    if query_id is not None and guarantee is Guarantee.AT_LEAST_ONCE:
        raise ConfigError("option 'queryId' needs deliveryGuarantee=exactly-once")
    return query_id


def with_defaults(settings: dict[str, str]) -> dict[str, str]:
    """Adds larger batches than a client's default: tasks send thousands of rows, then flush."""
    return {"batch.size": BATCH_BYTES, "buffer.memory": BUFFER_BYTES, **settings}
