"""Files of pipelines: which kind, and where each key of a definition is written."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from barnabas.model.errors import ConfigError
from barnabas.spark.pipeline.definition import Pipeline

Locate = Callable[[str], str]
"""The place of a key, such as `orders.yaml:12`, for messages."""


@dataclass(frozen=True, slots=True)
class PipelineFile:
    """A definition and the file it came from."""

    path: Path
    pipeline: Pipeline
    locate: Locate


def load(path: Path) -> PipelineFile:
    """Read a `.py`, `.yaml` or `.yml` file; ConfigError says what is wrong, and where."""
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file")
    if path.suffix == ".py":
        from barnabas.spark.pipeline.python_file import read_python

        return PipelineFile(path, read_python(path), lambda _key: str(path))
    if path.suffix in (".yaml", ".yml"):
        from barnabas.spark.pipeline.yaml_file import read_yaml

        pipeline, lines = read_yaml(path)
        return PipelineFile(path, pipeline, lines.place)
    raise ConfigError(f"{path}: a pipeline is a .py, .yaml or .yml file")
