"""Parts of an encoded response: byte strings, and ranges of files that the kernel copies.

A message encodes to a list of parts. Most are bytes-like; a fetch response also contains file
parts, which the kernel sends from the page cache without copying them through Python.
"""

from collections.abc import Iterable
from typing import Protocol, TypeAlias, runtime_checkable

Buffer: TypeAlias = bytes | bytearray | memoryview


@runtime_checkable
class FilePart(Protocol):
    """`size` bytes of the open file `fd` from `position`; implemented by storage.

    The owner of a part calls `release` exactly once when it no longer needs the file. A deleted
    segment stays readable until then.
    """

    @property
    def fd(self) -> int: ...

    @property
    def position(self) -> int: ...

    def __len__(self) -> int: ...

    def read(self) -> bytes: ...

    def release(self) -> None: ...


Part: TypeAlias = Buffer | FilePart

BUFFER_TYPES = (bytes, bytearray, memoryview)


def release_parts(parts: Iterable[object]) -> None:
    """Releases the files of parts that will not be sent."""
    for part in parts:
        if not isinstance(part, BUFFER_TYPES):
            release = getattr(part, "release", None)
            if release is not None:
                release()
