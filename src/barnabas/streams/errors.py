"""Errors of running topologies."""

from barnabas.model.errors import LocalError


class LostStateError(LocalError):
    """The checkpoint or the state of a query is gone, so that its results would be wrong.

    `Runner(..., lost_state="rebuild")` computes them again from the source topics.
    """
