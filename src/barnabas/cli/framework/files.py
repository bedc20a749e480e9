"""Files to read and write: `-` is the standard stream, names ending in .gz are compressed."""

import contextlib
import fcntl
import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from barnabas.model.errors import LocalError

STDIO = "-"


@contextlib.contextmanager
def open_output(name: str) -> Iterator[IO[str]]:
    """Opens a file for writing; `-` is stdout."""
    if name == STDIO:
        yield sys.stdout
        return
    with _open(name, "wt", "write") as out:
        yield out


@contextlib.contextmanager
def open_input(name: str) -> Iterator[IO[str]]:
    """Opens a file for reading; `-` is stdin."""
    if name == STDIO:
        yield sys.stdin
        return
    with _open(name, "rt", "read") as lines:
        yield lines


def read_input(name: str) -> str:
    """Returns the whole text of a file or of stdin."""
    with open_input(name) as text:
        return text.read()


@contextlib.contextmanager
def _open(name: str, mode: Literal["rt", "wt"], purpose: str) -> Iterator[IO[str]]:
    try:
        file = _plain_or_zipped(name, mode)
    except OSError as error:
        raise LocalError(f"cannot {purpose} {name}: {error.strerror}") from error
    with file:
        try:
            yield file
        except UnicodeDecodeError:
            raise LocalError(f"cannot {purpose} {name}: it is not UTF-8 text") from None


def _plain_or_zipped(name: str, mode: Literal["rt", "wt"]) -> IO[str]:
    if name.endswith(".gz"):
        return gzip.open(name, mode, encoding="utf-8")
    return Path(name).open(mode, encoding="utf-8")


@contextmanager
def locked_directory(directory: Path) -> Iterator[Path]:
    """Creates the directory and locks it until the block ends.

    Brokers lock their own directories. ZooKeeper does not, and two servers on one directory
    destroy the data.

    Raises:
        LocalError: Another process has locked the directory.
    """
    directory.mkdir(0o700, parents=True, exist_ok=True)
    with (directory / ".lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalError(f"{directory} is in use by another process") from None
        yield directory
