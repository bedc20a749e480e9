"""Exit codes, the same for every command, so that scripts can tell outcomes apart."""

from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.model.errors import BarnabasError, BrokerError

DONE = 0
FAILED = 1
"""Kafka refused, or an item of several failed."""
USAGE = 2
CHECK_FAILED = 3
"""The command ran, and what it checked is not well (doctor, verifications)."""
INTERRUPTED = 130
OK = "OK"


def status_of(error: BaseException | None) -> dict[str, Any]:
    """The `status` and `message` of one item.

    >>> status_of(None)
    {'status': 'OK', 'message': None}
    """
    if error is None:
        return {"status": OK, "message": None}
    if isinstance(error, BrokerError):
        return {"status": error.name, "message": error.message}
    return {"status": type(error).__name__, "message": str(error)}


def exit_code(errors: Mapping[Any, BarnabasError] | Iterable[object]) -> int:
    """FAILED when any item failed."""
    return FAILED if any(True for _ in errors) else DONE
