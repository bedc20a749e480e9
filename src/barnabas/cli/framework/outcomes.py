"""Mutations report item by item: `OK`, or Kafka's name of the error."""

from collections.abc import Iterable, Mapping
from typing import Any

from barnabas.cli.framework.exit_codes import DONE, FAILED
from barnabas.model.errors import BarnabasError, BrokerError

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
