"""A topology: sinks, and with them every node that leads to them. Frozen and pure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from barnabas.model.errors import ConfigError
from barnabas.streams.nodes import Node, Sink, TopicSink


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A vectorised Python function that expressions may call by its name.

    It gets and gives whole columns: pyarrow arrays, or pandas series with style "pandas".
    """

    name: str
    function: Callable[..., Any]
    returns: str
    style: Literal["arrow", "pandas"] = "arrow"

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def vectorised(
    returns: str, *, style: Literal["arrow", "pandas"] = "arrow", name: str | None = None
) -> Callable[[Callable[..., Any]], Function]:
    """Decorator: a function of columns, `returns` in Spark's SQL types."""

    def made(function: Callable[..., Any]) -> Function:
        return Function(name or function.__name__, function, returns, style)

    return made


class Topology:
    """What one application computes. `name` is part of its internal topics' names."""

    __slots__ = ("functions", "name", "sinks")

    name: str
    sinks: tuple[Sink, ...]
    functions: tuple[Function, ...]

    def __init__(self, name: str, *sinks: Sink, functions: Iterable[Function] = ()) -> None:
        if not name or not all(char.isalnum() or char in "._-" for char in name):
            raise ConfigError(f"topology {name!r}: letters, digits, '.', '_' and '-' only")
        if not sinks:
            raise ConfigError(f"topology {name!r} has no sink: end it with to() or view()")
        for sink in sinks:
            if not isinstance(sink, Sink):
                raise ConfigError(f"{sink!r} is no sink: end it with to(), view() or for_each()")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "sinks", tuple(sinks))
        object.__setattr__(self, "functions", tuple(functions))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a topology is frozen: {name}")

    def nodes(self) -> list[Node]:
        """Every node once, parents first; the order is the same each time."""
        return list(walk(self.sinks))

    def written_topics(self) -> set[str]:
        return {sink.topic.name for sink in self.sinks if isinstance(sink, TopicSink)}

    def explain(self, style: Literal["text", "mermaid"] = "text") -> str:
        """The topology and its queries, drawn as text or in Mermaid's language."""
        from barnabas.streams.drawing import as_mermaid, as_text

        return as_mermaid(self) if style == "mermaid" else as_text(self)


def walk(roots: Iterable[Node]) -> Iterator[Node]:
    """Roots and all above them, parents first, each once."""
    seen: set[Node] = set()

    def visit(node: Node) -> Iterator[Node]:
        if node in seen:
            return
        seen.add(node)
        for parent in node.parents:
            yield from visit(parent)
        yield node

    for root in roots:
        yield from visit(root)
