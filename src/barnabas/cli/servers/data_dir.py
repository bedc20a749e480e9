"""A data directory that one server at a time may use.

Brokers lock theirs themselves. ZooKeeper does not: two of them on one directory destroy it.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from barnabas.model.errors import LocalError


@contextmanager
def held(directory: Path) -> Iterator[Path]:
    """Make the directory and hold it; LocalError when another process has it."""
    directory.mkdir(0o700, parents=True, exist_ok=True)
    with (directory / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalError(f"{directory} is in use by another process") from None
        yield directory
