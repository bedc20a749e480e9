"""The result of a call on many items: a value or an error for each item."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from barnabas.model.errors import BarnabasError

K = TypeVar("K")
V = TypeVar("V")


class Results(Mapping[K, V], Generic[K, V]):
    """A read-only mapping from item to result, in the order of the request.

    `results[item]` returns the value of an item or raises its error. `values()` and `items()`
    raise when they reach a failed item. `ok` contains the successful items, `errors` the failed
    ones. `check()` returns all values as a dict or raises the first error.

    >>> from barnabas.model.error_codes import ErrorCode
    >>> from barnabas.model.errors import BrokerError
    >>> results = Results({"a": 1, "b": BrokerError(ErrorCode.TOPIC_ALREADY_EXISTS)})
    >>> results["a"], results.ok, [error.name for error in results.errors.values()]
    (1, {'a': 1}, ['TOPIC_ALREADY_EXISTS'])
    """

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: Mapping[K, V | BarnabasError]) -> None:
        self._outcomes = dict(outcomes)

    @property
    def ok(self) -> dict[K, V]:
        """The successful items with their values."""
        return {
            key: value
            for key, value in self._outcomes.items()
            if not isinstance(value, BarnabasError)
        }

    @property
    def errors(self) -> dict[K, BarnabasError]:
        """The failed items with their errors."""
        return {
            key: value for key, value in self._outcomes.items() if isinstance(value, BarnabasError)
        }

    def check(self) -> dict[K, V]:
        """Returns all values; raises the first error, with the other errors as notes."""
        failed = self.errors
        if not failed:
            return self.ok
        (item, first), *others = failed.items()
        first.add_note(f"for {item}")
        for other, error in others:
            first.add_note(f"for {other}: {error}")
        raise first

    def __getitem__(self, key: K) -> V:
        value = self._outcomes[key]
        if isinstance(value, BarnabasError):
            raise value
        return value

    def __iter__(self) -> Iterator[K]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __contains__(self, key: object) -> bool:
        return key in self._outcomes

    def __repr__(self) -> str:
        return f"Results({self._outcomes!r})"
