"""A pipeline from a Python file: its variable `pipeline`, or what a function `pipeline` returns."""

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from barnabas.model.errors import ConfigError
from barnabas.spark.pipeline.definition import Pipeline

NAME = "pipeline"
MODULE = "barnabas_pipeline_file"


def read_python(path: Path) -> Pipeline:
    """ConfigError names the file, and the line if the file itself fails."""
    try:
        module = _run(path)
        found = getattr(module, NAME, None)
        made = found() if callable(found) else found
    except Exception as error:
        raise ConfigError(f"{_place(path, error)}: {_words(error)}") from error
    if not isinstance(made, Pipeline):
        what = "has no" if found is None else "has another kind of"
        raise ConfigError(f"{path}: {what} variable or function {NAME!r}: it must be a Pipeline")
    return made


def _run(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Functions of the file are sent to Spark's workers, which know no such module: by value.
    sys.modules[MODULE] = module
    spec.loader.exec_module(module)
    return module


def _place(path: Path, error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{path}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _words(error: Exception) -> str:
    if isinstance(error, ConfigError):
        return str(error)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text}"
