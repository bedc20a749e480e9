"""A pipeline from a YAML file. Every mistake is told with the file, the line and the key.

The text is read into YAML's own nodes, which know their lines; plain values are made of them, and
beside these a table from key to line. What the values mean is for `document`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barnabas.model.errors import ConfigError
from barnabas.spark.pipeline.definition import Pipeline
from barnabas.spark.pipeline.document import pipeline_of
from barnabas.spark.pipeline.errors import PipelineError


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
        root = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        raise ConfigError(f"{path}:{line}: {error.problem or error.context}") from error
    lines = Lines(str(path), {"": 1})
    try:
        document = _value(root, "", lines.by_key)
        return pipeline_of(document), lines
    except PipelineError as error:
        raise error.at(lines.place(error.key)) from error


def _value(node: Any, key: str, lines: dict[str, int]) -> Any:
    """A node as a plain value; notes the line of each key on the way."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for name_node, value_node in node.value:
            name = str(name_node.value)
            path = f"{key}.{name}" if key else name
            lines[path] = name_node.start_mark.line + 1
            if name in found:
                raise PipelineError(path, "is there twice")
            found[name] = _value(value_node, path, lines)
        return found
    if isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value):
            lines[f"{key}[{number}]"] = item.start_mark.line + 1
        return [_value(item, f"{key}[{n}]", lines) for n, item in enumerate(node.value)]
    return None if node is None else _scalar(node)


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
