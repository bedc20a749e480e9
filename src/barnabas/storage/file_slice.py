"""A range of a segment's file that is sent to a socket."""

from barnabas.storage.filesystem import File


class FileSlice:
    """Bytes of a file, for `sendfile` or to be read.

    The reference keeps the file open: the segment may be deleted, and the descriptor stays valid
    until `release` or until the slice is garbage collected. If `fd` is -1, `sendfile` is not
    possible and the caller uses `read`.
    """

    __slots__ = ("_file", "position", "size")

    def __init__(self, file: File, position: int, size: int) -> None:
        self._file: File | None = file
        self.position = position
        self.size = size

    @property
    def fd(self) -> int:
        return self._open().fileno()

    def __len__(self) -> int:
        return self.size

    def read(self, size: int | None = None) -> bytes:
        """Returns the bytes, or the first `size` of them."""
        wanted = self.size if size is None else min(size, self.size)
        return self._open().pread(wanted, self.position)

    def release(self) -> None:
        """Drops the reference to the file; a second call does nothing."""
        self._file = None

    def _open(self) -> File:
        if self._file is None:
            raise ValueError("the slice has been released")
        return self._file

    def __repr__(self) -> str:
        return f"FileSlice(position={self.position}, size={self.size})"
