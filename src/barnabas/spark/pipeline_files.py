"""Reads pipelines from YAML and Python files.

A YAML file is read into nodes, which have line numbers; they become plain values and a table from
key to line, and then a definition. An error names the file, the line and the key. A Python file has
a variable `pipeline`, or a function `pipeline` that returns one.
"""

import difflib
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.spark.pipeline import (
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

NAME = "pipeline"
MODULE = "barnabas_pipeline_file"
_MAX_DEPTH = 32
_MAX_VALUES = 100_000
"""A limit, because aliases can expand a short text to a document larger than the memory."""

Locate = Callable[[str], str]
"""Returns the location of a key, such as `orders.yaml:12`, for messages."""


@dataclass(frozen=True, slots=True)
class PipelineFile:
    """A definition and the file it came from."""

    path: Path
    pipeline: Pipeline
    locate: Locate


def load(path: Path) -> PipelineFile:
    """Reads a `.py`, `.yaml` or `.yml` file; ConfigError names the error and its location."""
    if not path.is_file():
        problem = "is not a file" if path.exists() else "the file does not exist"
        raise ConfigError(f"{path}: {problem}")
    if path.suffix == ".py":
        return PipelineFile(path, read_python(path), lambda _key: str(path))
    if path.suffix in (".yaml", ".yml"):
        pipeline, lines = read_yaml(path)
        return PipelineFile(path, pipeline, lines.location)
    raise ConfigError(f"{path}: a pipeline is a .py, .yaml or .yml file")


# --- YAML ---


@dataclass(frozen=True, slots=True)
class Lines:
    """The line of each key of a file; a missing key has the line of its parent."""

    file: str
    by_key: dict[str, int]

    def location(self, key: str) -> str:
        while key and key not in self.by_key:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return f"{self.file}:{self.by_key.get(key, 1)}"


def read_yaml(path: Path) -> tuple[Pipeline, Lines]:
    """Reads a pipeline; ConfigError names the file, the line and the key."""
    yaml = _yaml(path)
    try:
        text = path.read_text(encoding="utf-8")
        _check_depth(yaml, path, text)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise ConfigError(f"{path}:{line}: {error.problem or error.context}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: is not YAML text: {error}") from error
    lines = Lines(str(path), {"": 1})
    try:
        document = _Document(yaml, lines.by_key).value(root, "")
        return pipeline_of(document), lines
    except PipelineError as error:
        raise error.at(lines.location(error.key)) from error


def _check_depth(yaml: Any, path: Path, text: str) -> None:
    """Raises ConfigError for deep nesting, before nodes are composed recursively."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            line = event.start_mark.line + 1
            raise ConfigError(f"{path}:{line}: nested more than {_MAX_DEPTH} levels deep")


@dataclass(slots=True)
class _Document:
    """Converts YAML nodes to plain values and records the line of each key."""

    yaml: Any
    lines: dict[str, int]
    values: int = 0
    open_nodes: set[int] = field(default_factory=set)

    def value(self, node: object, key: str) -> Any:
        self.values += 1
        if self.values > _MAX_VALUES:
            raise PipelineError(key, f"aliases make more than {_MAX_VALUES} values of the file")
        if isinstance(node, self.yaml.MappingNode):
            with self._check_nesting(node, key):
                return self._mapping(node, key)
        if isinstance(node, self.yaml.SequenceNode):
            with self._check_nesting(node, key):
                return self._sequence(node, key)
        return None if node is None else _scalar(node)

    def _mapping(self, node: Any, key: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name_node, value_node in node.value:
            name = str(name_node.value)
            path = f"{key}.{name}" if key else name
            self.lines[path] = name_node.start_mark.line + 1
            if name in found:
                raise PipelineError(path, "occurs twice")
            found[name] = self.value(value_node, path)
        return found

    def _sequence(self, node: Any, key: str) -> list[Any]:
        for number, item in enumerate(node.value):
            self.lines[f"{key}[{number}]"] = item.start_mark.line + 1
        return [self.value(item, f"{key}[{n}]") for n, item in enumerate(node.value)]

    @contextmanager
    def _check_nesting(self, node: object, key: str) -> Iterator[None]:
        """Raises PipelineError if an alias refers to a node that contains it, or nests too deep."""
        if id(node) in self.open_nodes:
            raise PipelineError(key, "an alias refers to a value that contains it")
        if len(self.open_nodes) >= _MAX_DEPTH:
            raise PipelineError(key, f"aliases nest more than {_MAX_DEPTH} levels deep")
        self.open_nodes.add(id(node))
        yield
        self.open_nodes.discard(id(node))


def _scalar(node: Any) -> str | None:
    """Returns a value as text, as options are: `1e3`, `no` and `2026-01-01` are not converted."""
    return None if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _yaml(path: Path) -> Any:
    try:
        # Optional package: only for YAML files.
        import yaml
    except ImportError:
        raise ConfigError(
            f'{path}: pipelines in YAML need PyYAML: pip install "barnabas[spark]"'
        ) from None
    return yaml


# --- Python ---


def read_python(path: Path) -> Pipeline:
    """Reads a pipeline; ConfigError names the file, and the line that raised an exception."""
    try:
        module = _run(path)
        found = getattr(module, NAME, None)
        made = found() if callable(found) else found
    except Exception as error:
        raise ConfigError(f"{_location(path, error)}: {_error_text(error)}") from error
    if not isinstance(made, Pipeline):
        what = "has no" if found is None else "has another kind of"
        raise ConfigError(f"{path}: {what} variable or function {NAME!r}: it must be a Pipeline")
    return made


def _run(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: is not a Python file")
    module = importlib.util.module_from_spec(spec)
    # Spark's workers cannot import this module, so its functions are pickled by value.
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    return module


def _location(path: Path, error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{path}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _error_text(error: Exception) -> str:
    if isinstance(error, ConfigError):
        return str(error)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}"


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


def pipeline_of(document: object) -> Pipeline:
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


def _source(given: Mapping[str, object]) -> Source:
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


def _sink(given: object) -> Sink:
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


def _sink_values(given: object, allowed: Sequence[str]) -> dict[str, Any]:
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


def _dead_letters(given: object) -> DeadLetters:
    values = _mapping("dead_letters", given, ("topic",))
    return DeadLetters(_text("dead_letters.topic", values.get("topic")))


def _steps(given: object) -> list[Step]:
    if not isinstance(given, list):
        raise PipelineError("steps", "must be a list")
    return [_step(f"steps[{number}]", item) for number, item in enumerate(given)]


def _step(key: str, given: object) -> Step:
    step = _mapping(key, given, tuple(_STEPS))
    if len(step) != 1:
        raise PipelineError(key, f"must have one of: {', '.join(_STEPS)}")
    [(name, value)] = step.items()
    return _STEPS[name](f"{key}.{name}", value)


def _watermark(key: str, value: object) -> Step:
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


def _mapping(key: str, value: object, allowed: Sequence[str]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise PipelineError(key, f"must have keys, of: {', '.join(sorted(allowed))}")
    for name in value:
        if name not in allowed:
            close = difflib.get_close_matches(name, allowed, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(allowed)}"
            raise PipelineError(f"{key}.{name}" if key else name, f"is not a key here; {hint}")
    return value


def _needed(key: str, given: Mapping[str, object], name: str) -> Any:
    if given.get(name) is None:
        raise PipelineError(key, f"{name} is missing")
    return given[name]


def _text(key: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise PipelineError(key, "must be a text")
    return value


def _texts(key: str, value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise PipelineError(key, "must have names and values")
    return {name: _text(f"{key}.{name}", text) or "" for name, text in value.items()}


def _list(key: str, value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise PipelineError(key, "must be a list")
    return [_text(f"{key}[{number}]", item) or "" for number, item in enumerate(value)]
