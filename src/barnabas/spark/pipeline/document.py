"""Creates a pipeline from plain values: the allowed keys and their meaning.

Independent of file formats and lines; a PipelineError has the path of the key.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from barnabas.spark.pipeline.definition import (
    AddColumns,
    DeadLetters,
    Drop,
    FormatSink,
    Pipeline,
    PipelineError,
    Select,
    Sink,
    Source,
    Sql,
    Step,
    TableSink,
    TopicSink,
    Watermark,
    Where,
)

TOP = (
    "name",
    "bootstrap_servers",
    "source",
    "steps",
    "sink",
    "checkpoint",
    "dead_letters",
    "trigger",
    "kafka",
    "spark",
)
SOURCE = ("topic", "topics", "pattern", "format", "schema", "starting", "options")
TOPIC_SINK = ("topic", "key", "format", "mode", "guarantee", "options")
TABLE_SINK = ("database", "table", "keys", "mode")
FORMAT_SINK = ("format", "mode", "options")


def pipeline_of(document: Any) -> Pipeline:
    """Returns the pipeline of a document; PipelineError names the first invalid key."""
    top = _mapping("", document, TOP)
    spark = _mapping("spark", top.get("spark") or {}, ("master", "conf"))
    dead_letters = top.get("dead_letters")
    return Pipeline(
        name=_needed("", top, "name"),
        bootstrap_servers=_text("bootstrap_servers", top.get("bootstrap_servers"))
        or "localhost:9092",
        source=_source(_mapping("source", _needed("", top, "source"), SOURCE)),
        steps=tuple(_steps(top.get("steps") or [])),
        sink=_sink(_needed("", top, "sink")),
        checkpoint=_text("checkpoint", _needed("", top, "checkpoint")) or "",
        dead_letters=None if dead_letters is None else _dead_letters(dead_letters),
        trigger=_text("trigger", top.get("trigger")),
        kafka=_texts("kafka", top.get("kafka")),
        master=_text("spark.master", spark.get("master")),
        spark=_texts("spark.conf", spark.get("conf")),
    )


def _source(given: Mapping[str, Any]) -> Source:
    if "topic" in given and "topics" in given:
        raise PipelineError("source.topics", "give topic or topics, not both")
    topics = _list("source.topics", given.get("topics") or [])
    return Source(
        topic=_text("source.topic", given.get("topic")) or topics,
        pattern=_text("source.pattern", given.get("pattern")),
        format=_text("source.format", given.get("format")) or "raw",
        schema=_text("source.schema", given.get("schema")),
        starting=_text("source.starting", given.get("starting")) or "earliest",
        options=_texts("source.options", given.get("options")),
    )


def _sink(given: Any) -> Sink:
    kind = given if isinstance(given, dict) else {}
    if "topic" in kind:
        return TopicSink(**_sink_values(given, TOPIC_SINK))
    if "database" in kind:
        values = _sink_values(given, TABLE_SINK)
        values.setdefault("table", "")
        return TableSink(**values)
    if "format" in kind:
        return FormatSink(**_sink_values(given, FORMAT_SINK))
    _mapping("sink", given, tuple({*TOPIC_SINK, *TABLE_SINK, *FORMAT_SINK}))
    raise PipelineError("sink", "needs a topic, a database, or a format of Spark's")


def _sink_values(given: Any, allowed: Sequence[str]) -> dict[str, Any]:
    """Returns the arguments of the dataclass; missing keys keep its defaults."""
    values: dict[str, Any] = {}
    for name, value in _mapping("sink", given, allowed).items():
        key = f"sink.{name}"
        if name == "options":
            values[name] = _texts(key, value)
        elif name == "keys":
            values[name] = _list(key, value)
        elif value is not None:
            values[name] = _text(key, value)
    return values


def _dead_letters(given: Any) -> DeadLetters:
    values = _mapping("dead_letters", given, ("topic",))
    return DeadLetters(_text("dead_letters.topic", values.get("topic")))


def _steps(given: Any) -> list[Step]:
    if not isinstance(given, list):
        raise PipelineError("steps", "must be a list")
    return [_step(f"steps[{number}]", item) for number, item in enumerate(given)]


def _step(key: str, given: Any) -> Step:
    step = _mapping(key, given, tuple(_STEPS))
    if len(step) != 1:
        raise PipelineError(key, f"must have one of: {', '.join(_STEPS)}")
    [(name, value)] = step.items()
    return _STEPS[name](f"{key}.{name}", value)


def _watermark(key: str, value: Any) -> Step:
    given = _mapping(key, value, ("column", "delay"))
    return Watermark(_needed(key, given, "column"), _needed(key, given, "delay"))


_STEPS: dict[str, Callable[[str, Any], Step]] = {
    "where": lambda key, value: Where(_text(key, value) or ""),
    "select": lambda key, value: Select(_list(key, value)),
    "add_columns": lambda key, value: AddColumns(_texts(key, value)),
    "drop": lambda key, value: Drop(_list(key, value)),
    "watermark": _watermark,
    "sql": lambda key, value: Sql(_text(key, value) or ""),
}


def _mapping(key: str, value: Any, allowed: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PipelineError(key, f"must have keys, of: {', '.join(sorted(allowed))}")
    for name in value:
        if name not in allowed:
            close = difflib.get_close_matches(name, allowed, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(allowed)}"
            raise PipelineError(f"{key}.{name}" if key else name, f"is not a key here; {hint}")
    return value


def _needed(key: str, given: Mapping[str, Any], name: str) -> Any:
    if given.get(name) is None:
        raise PipelineError(key, f"{name} is missing")
    return given[name]


def _text(key: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise PipelineError(key, "must be a text")
    return value


def _texts(key: str, value: Any) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise PipelineError(key, "must have names and values")
    return {name: _text(f"{key}.{name}", text) or "" for name, text in value.items()}


def _list(key: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise PipelineError(key, "must be a list")
    return [_text(f"{key}[{number}]", item) or "" for number, item in enumerate(value)]
