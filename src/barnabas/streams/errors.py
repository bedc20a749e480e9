"""Errors of running topologies."""

from barnabas.model.errors import LocalError


class LostStateError(LocalError):
    """A query's checkpoint or state is gone, so its results would be wrong.

    `Runner(..., lost_state="rebuild")` computes them again from the source topics.
    """


class RowFunctionError(LocalError):
    """A Python function of a topology has raised an exception for a row."""
