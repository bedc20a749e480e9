"""The JVM of a session: its log file, and short reasons from its exceptions."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def stderr_into(path: Path | None) -> Iterator[None]:
    """Redirects stderr to a file for a JVM that is started inside; None changes nothing."""
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.flush()
    saved = os.dup(2)
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(target, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(target)


def short_reason(error: BaseException) -> str:
    """Returns the last error of this package in the text of an exception, or else its first line.

    The texts of Spark's exceptions contain pages of plans and stack traces.
    """
    lines = [line.strip() for line in str(error).splitlines()]
    present = [line for line in lines if line]
    own = [line for line in present if line.startswith("barnabas.") and ": " in line]
    if own:
        return own[-1].partition(": ")[2]
    return present[0] if present else repr(error)
