"""A disk that fails on request."""

import os

from barnabas.storage.filesystem import OsFile, OsFileSystem


class Disk:
    """The fault below a directory."""

    def __init__(self):
        self.error = None
        self.below = ""


class BadFile(OsFile):
    __slots__ = ("disk", "path")

    def pwrite(self, data, position):
        if self.disk.error is not None and self.disk.below in str(self.path):
            raise OSError(self.disk.error, os.strerror(self.disk.error))
        super().pwrite(data, position)


class BadFileSystem(OsFileSystem):
    __slots__ = ("disk",)

    def __init__(self, disk):
        self.disk = disk

    def usage(self, path):
        found = super().usage(path)
        return found if self.disk.error is None else found._replace(free_bytes=0)

    def open(self, path, *, create=False):
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        file = BadFile(os.open(path, flags, 0o644))
        file.disk, file.path = self.disk, path
        return file
