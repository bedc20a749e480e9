"""Which rows stay: an expression of SQL or a Python function, and the opposite of either."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from barnabas.streams.nodes import Expression

Predicate = Expression | Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Negated:
    """The opposite of a predicate; goes to the workers."""

    predicate: Callable[[Any], bool]

    def __call__(self, record: Any) -> bool:
        return not self.predicate(record)

    @property
    def __name__(self) -> str:
        return f"not {getattr(self.predicate, '__name__', 'function')}"


def negated(predicate: Predicate) -> Predicate:
    """True where the predicate is not, a null included.

    >>> negated("amount > 5")
    'not coalesce((amount > 5), false)'
    """
    if isinstance(predicate, str):
        return f"not coalesce(({predicate}), false)"
    return Negated(predicate)
