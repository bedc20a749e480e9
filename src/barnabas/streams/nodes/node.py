"""What every node is, and how people call what it does. Pure."""

from dataclasses import dataclass


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
