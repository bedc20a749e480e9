"""Results of calls: a value or an error for each item, and which errors are transient."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, UnavailableError

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


TRANSIENT = frozenset(
    {
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
    }
)
"""Error codes that admin calls retry. UNKNOWN_TOPIC_OR_PARTITION is not included: after a typing
error in a topic name the user needs the error at once."""


class UnknownBrokerError(LocalError):
    """The named broker is not in the cluster at present."""


def is_transient(error: BarnabasError) -> bool:
    """Returns whether a retry may succeed."""
    if isinstance(error, BrokerError):
        return error.code in TRANSIENT
    return isinstance(error, UnavailableError)


def error_of(item: Any) -> BrokerError | None:
    """Returns the error of one item of a response, or None."""
    if not item.error_code:
        return None
    message = getattr(item, "error_message", None)
    return BrokerError(ErrorCode.of(item.error_code), message or None)


def raise_error(response: object) -> None:
    """Raises the top-level error of a response, if it has one."""
    if getattr(response, "error_code", 0):
        raise error_of(response) or AssertionError("unreachable")
