"""The base class of all nodes of a topology. Pure."""

from dataclasses import dataclass
from typing import Literal, get_args

from barnabas.model.errors import ConfigError

OnError = Literal["stop", "skip", "dlq"]
"""Reaction to an exception of a Python function: the query stops, the row is skipped, or
the row becomes a dead letter."""


@dataclass(frozen=True, slots=True)
class ErrorPolicy:
    """The reaction to a row for which a Python function raises an exception.

    `topic` is the dead-letter topic; None stands for `<topology>.dlq`.
    """

    action: OnError = "stop"
    topic: str | None = None

    def __post_init__(self) -> None:
        if self.action not in get_args(OnError):
            allowed = ", ".join(get_args(OnError))
            raise ConfigError(f"on_error={self.action!r}: must be one of {allowed}")
        if self.topic is not None and self.action != "dlq":
            raise ConfigError(f"dead_letter_topic={self.topic!r} needs on_error='dlq'")

    @classmethod
    def of(cls, on_error: OnError | None, topic: str | None) -> "ErrorPolicy | None":
        """None when neither is given: the topology's policy is used then."""
        if on_error is None and topic is None:
            return None
        return cls(on_error or "dlq", topic)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Rows of a stream or the changes of a table; `is_table` says which."""

    @property
    def parents(self) -> tuple["Node", ...]:
        return ()

    @property
    def is_table(self) -> bool:
        return any(parent.is_table for parent in self.parents)

    @property
    def label(self) -> str:
        """What the node does, for people."""
        return type(self).__name__.lower()


@dataclass(frozen=True, slots=True, eq=False)
class OneParent(Node):
    parent: Node

    @property
    def parents(self) -> tuple[Node, ...]:
        return (self.parent,)


def named(what: object) -> str:
    return what if isinstance(what, str) else getattr(what, "__name__", type(what).__name__)
