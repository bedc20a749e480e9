"""Nodes that keep something for each group or key. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from barnabas.streams.nodes.node import ErrorPolicy, OneParent, named
from barnabas.streams.nodes.stateless import Named
from barnabas.streams.schema import Schema
from barnabas.streams.windows import Emit, Window


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate(OneParent):
    """Groups and, with a window, their windows; the result is a table.

    Its columns: the keys, `window_start` and `window_end` where there is a window, the aggregates.
    Its `_key`: the only key itself; else a struct of the keys and `window_start`, `window_end`.
    `late_topic` gets rows, as JSON, that come when all their windows are closed.
    """

    keys: Named
    aggregates: Named
    window: Window | None = None
    emit: Emit = Emit.CHANGES
    late_topic: str | None = None

    @property
    def is_table(self) -> bool:
        """When only final results are told they never change: a stream of them."""
        return self.emit is Emit.CHANGES

    @property
    def label(self) -> str:
        what = ", ".join(name for name, _ in self.aggregates)
        by = ", ".join(name for name, _ in self.keys)
        over = f" over {self.window}" if self.window else ""
        return f"{what} by {by}{over}, emit {self.emit.value}"


@dataclass(frozen=True, slots=True, eq=False)
class Fold(OneParent):
    """A Python function over the records of each key, in order: (state, record) -> state."""

    initial: Callable[[], Any]
    function: Callable[[Any, Any], Any]
    into: Schema
    on_error: ErrorPolicy | None = None

    @property
    def is_table(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return f"aggregate by key with {named(self.function)}"
