"""The steps between a source and a sink. Each takes the rows of the one before.

Expressions are Spark SQL. `Sql` sees those rows as the table `input`; `Apply` is for pipelines in
Python files: any function from a DataFrame to a DataFrame.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from barnabas.spark.pipeline.errors import PipelineError

INPUT_VIEW = "input"


@dataclass(frozen=True, slots=True)
class Where:
    """Only the rows for which the condition is true."""

    condition: str


@dataclass(frozen=True, slots=True)
class Select:
    """These expressions, in this order, and nothing else."""

    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class AddColumns:
    """More columns, by name, or others in the place of what is there."""

    columns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Drop:
    columns: Sequence[str]


@dataclass(frozen=True, slots=True)
class Watermark:
    """How late a row may come, by a column of times; bounds the state of aggregations."""

    column: str
    delay: str


@dataclass(frozen=True, slots=True)
class Sql:
    """A query over the table `input`."""

    query: str


@dataclass(frozen=True, slots=True)
class Apply:
    """`function(frame)` on the driver, when the query is built."""

    function: Callable[[Any], Any]


Step = Where | Select | AddColumns | Drop | Watermark | Sql | Apply


def check_step(step: Step, key: str) -> None:
    """PipelineError when a text is empty or a list has nothing in it."""
    if not isinstance(step, Step):
        raise PipelineError(key, f"{step!r} is no step")
    for name in step.__slots__:
        value = getattr(step, name)
        if not value or (isinstance(value, str) and not value.strip()):
            raise PipelineError(key, f"{name} is empty")
