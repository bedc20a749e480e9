"""The sink's options, checked all at once: Spark's own names, and how sure delivery has to be."""

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
"""Options that Spark reads itself and shows to the sink as well."""

BATCH_BYTES = "524288"
BUFFER_BYTES = "134217728"
"""Room for a batch of each of some hundred partitions: without it they leave half empty."""
TRANSACTION_TIMEOUT_MS = "300000"


class Guarantee(enum.Enum):
    """How often a row is in the topic after failures: what is not acknowledged is sent again."""

    EXACTLY_ONCE = "exactly-once"
    AT_LEAST_ONCE = "at-least-once"


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """What a writer needs to know; goes to the executors with each task."""

    topic: str | None
    guarantee: Guarantee
    query_id: str | None
    batch_id: int
    client: Mapping[str, str]
    timestamp_column: str | None = None

    @classmethod
    def parse(cls, given: Mapping[str, str], *, streaming: bool) -> "SinkOptions":
        """From a query's options; ConfigError names what is wrong."""
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
    """A batch write has no epoch to tell a replay by, unless the caller gives it one."""
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
    """Larger batches than a client's: rows come by the thousand, and the task's end flushes."""
    return {"batch.size": BATCH_BYTES, "buffer.memory": BUFFER_BYTES, **settings}
