"""A topology: sinks, and with them every node that leads to them. Frozen and pure."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from barnabas.model.errors import ConfigError
from barnabas.streams.nodes import ErrorPolicy, Node, OnError, Sink, TopicSink


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
    """The computation of one application.

    Args:
        name: Part of the names of its internal topics and of its queries.
        sinks: The ends of its streams and tables, from `to()`, `view()` or `for_each()`.
        functions: Vectorised functions that its expressions call.
        on_error: What happens when a Python function (`map`, `flat_map`, `filter`, `select_key`,
            `fold`) raises an exception for a row: "stop" ends the query, "skip" leaves the row out
            and logs it, "dlq" writes it to the dead-letter topic. A step's own `on_error` wins.
        dead_letter_topic: The dead-letter topic; `<name>.dlq` by default.

    Raises:
        ConfigError: The name, a sink or the error policy is not valid.

    Example:
        >>> from barnabas.streams import Stream
        >>> orders = Stream("orders", "user string, amount double")
        >>> Topology("large", orders.filter("amount > 100").to("large-orders"), on_error="dlq").name
        'large'
    """

    __slots__ = ("functions", "name", "on_error", "sinks")

    name: str
    sinks: tuple[Sink, ...]
    functions: tuple[Function, ...]
    on_error: ErrorPolicy

    def __init__(
        self,
        name: str,
        *sinks: Sink,
        functions: Iterable[Function] = (),
        on_error: OnError | None = None,
        dead_letter_topic: str | None = None,
    ) -> None:
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
        policy = ErrorPolicy.of(on_error, dead_letter_topic) or ErrorPolicy()
        object.__setattr__(self, "on_error", policy)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a topology is frozen: {name}")

    def nodes(self) -> list[Node]:
        """Every node once, parents first; the order is the same each time."""
        return list(walk(self.sinks))

    def dead_letter_topic(self, policy: ErrorPolicy) -> str:
        """The topic for the dead letters of a step with this policy."""
        return policy.topic or self.on_error.topic or f"{self.name}.dlq"

    def dead_letter_topics(self) -> set[str]:
        """The dead-letter topics that the steps of this topology may write to."""
        policies = {getattr(node, "on_error", None) or self.on_error for node in self.nodes()}
        return {self.dead_letter_topic(policy) for policy in policies if policy.action == "dlq"}

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
