"""Base class and functions that the calls of all resource types share."""

from barnabas.admin.session import AdminSession, Deadline
from barnabas.security.acl import Operation

OPERATIONS_NOT_REQUESTED = -(2**31)


class AdminCalls:
    """Base of the call classes; the admin client inherits from all of them."""

    _session: AdminSession

    def _deadline(self, what: str, timeout: float | None) -> Deadline:
        return self._session.deadline(what, timeout)


def operations_of(bits: int) -> frozenset[Operation] | None:
    """Decodes an authorized_operations field; returns None if the request did not ask for it."""
    if bits == OPERATIONS_NOT_REQUESTED:
        return None
    return frozenset(operation for operation in Operation if bits >> operation.value & 1)
