"""Exit codes of all commands, and the status of each item that a command changed."""

from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.model.errors import BarnabasError, BrokerError

DONE = 0
FAILED = 1
"""The cluster rejected the operation, or at least one of several items failed."""
USAGE = 2
CHECK_FAILED = 3
"""The command ran and found a problem (doctor, verifications)."""
INTERRUPTED = 130
OK = "OK"


def status_of(error: BaseException | None) -> dict[str, Any]:
    """Returns the `status` and `message` columns of one item.

    >>> status_of(None)
    {'status': 'OK', 'message': None}
    """
    if error is None:
        return {"status": OK, "message": None}
    if isinstance(error, BrokerError):
        return {"status": error.name, "message": error.message}
    return {"status": type(error).__name__, "message": str(error)}


def exit_code(errors: Mapping[Any, BarnabasError] | Iterable[object]) -> int:
    """Returns FAILED when any item failed."""
    return FAILED if any(True for _ in errors) else DONE
