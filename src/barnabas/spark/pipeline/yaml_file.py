"""A pipeline from a YAML file. Every mistake is told with the file, the line and the key.

The text is read into YAML's own nodes, which know their lines; plain values are made of them, and
beside these a table from key to line. What the values mean is for `document`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.spark.pipeline.definition import Pipeline
from barnabas.spark.pipeline.document import pipeline_of
from barnabas.spark.pipeline.errors import PipelineError

_MAX_DEPTH = 32
_MAX_VALUES = 100_000
"""Aliases may multiply a short text into a document that no memory holds."""


@dataclass(frozen=True, slots=True)
class Lines:
    """In which line of a file a key is; a key that is not there is at its parent's."""

    file: str
    by_key: dict[str, int]

    def place(self, key: str) -> str:
        while key and key not in self.by_key:
            key = key[: max(key.rfind("."), key.rfind("["), 0)]
        return f"{self.file}:{self.by_key.get(key, 1)}"


def read_yaml(path: Path) -> tuple[Pipeline, Lines]:
    """ConfigError names file, line and key."""
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
        raise ConfigError(f"{path}: not a text in YAML: {error}") from error
    lines = Lines(str(path), {"": 1})
    try:
        document = _Document(yaml, lines.by_key).value(root, "")
        return pipeline_of(document), lines
    except PipelineError as error:
        raise error.at(lines.place(error.key)) from error


def _check_depth(yaml: Any, path: Path, text: str) -> None:
    """Before nodes are composed, which recurses with the depth of the text."""
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
    """Makes plain values of nodes, and notes the line of each key on the way."""

    yaml: Any
    lines: dict[str, int]
    values: int = 0
    open_nodes: set[int] = field(default_factory=set)

    def value(self, node: Any, key: str) -> Any:
        self.values += 1
        if self.values > _MAX_VALUES:
            raise PipelineError(key, f"aliases make more than {_MAX_VALUES} values of the file")
        if isinstance(node, self.yaml.MappingNode):
            with self._inside(node, key):
                return self._mapping(node, key)
        if isinstance(node, self.yaml.SequenceNode):
            with self._inside(node, key):
                return self._sequence(node, key)
        return None if node is None else _scalar(node)

    def _mapping(self, node: Any, key: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name_node, value_node in node.value:
            name = str(name_node.value)
            path = f"{key}.{name}" if key else name
            self.lines[path] = name_node.start_mark.line + 1
            if name in found:
                raise PipelineError(path, "is there twice")
            found[name] = self.value(value_node, path)
        return found

    def _sequence(self, node: Any, key: str) -> list[Any]:
        for number, item in enumerate(node.value):
            self.lines[f"{key}[{number}]"] = item.start_mark.line + 1
        return [self.value(item, f"{key}[{n}]") for n, item in enumerate(node.value)]

    @contextmanager
    def _inside(self, node: Any, key: str) -> Iterator[None]:
        """PipelineError when an alias leads back into a node, or too deep."""
        if id(node) in self.open_nodes:
            raise PipelineError(key, "an alias stands for a value that contains it")
        if len(self.open_nodes) >= _MAX_DEPTH:
            raise PipelineError(key, f"aliases nest more than {_MAX_DEPTH} levels deep")
        self.open_nodes.add(id(node))
        yield
        self.open_nodes.discard(id(node))


def _scalar(node: Any) -> str | None:
    """Every value is a text, as options are: `1e3`, `no` and `2026-01-01` stay what was written."""
    return None if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _yaml(path: Path) -> Any:
    try:
        import yaml
    except ImportError:
        raise ConfigError(
            f'{path}: pipelines in YAML need PyYAML: pip install "barnabas[spark]"'
        ) from None
    return yaml
