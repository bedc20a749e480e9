"""Replaces a log by its copy in another log directory; safe against a crash at any point.

The two directories may be on two disks, so one rename is not enough. The steps, each durable before
the next one:

1. write the file `moved-from` into the copy's directory: the copy is complete; it names the source
2. rename the current directory to `*-delete`: from now on the copy is the log
3. rename the copy's directory to the partition's name
4. delete the file `moved-from`

Nothing is appended to either log meanwhile. A start after a crash finds one of these states:

    the partition's directory, and a copy with or without the file: step 2 was not reached, the copy
        remains a copy
    no such directory, a copy with the file: continue with step 3
    the partition's directory with the file: continue with step 4
    the same, and another one without the file: the disk of the copy failed in step 3 and the
        current log got its name back; the directory with the file is a copy again
"""

from pathlib import Path
from typing import NamedTuple

from barnabas.model.ids import TopicPartition
from barnabas.storage import file_names
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.filesystem import FileSystem
from barnabas.storage.log import Log
from barnabas.storage.log_dirs import LogDirectory, LogDirs
from barnabas.storage.small_files import read_text, replace_file


def write_note(fs: FileSystem, copy: Path, source: Path) -> None:
    """Marks the copy as complete (step 1)."""
    replace_file(fs, copy / file_names.MOVED_FROM, str(source).encode())


def rename_durably(fs: FileSystem, source: Path, target: Path) -> None:
    """Renames one directory and makes the new name durable (step 2 or 3)."""
    fs.rename(source, target)
    fs.sync_dir(target.parent)


def remove_note(fs: FileSystem, directory: Path) -> None:
    """Deletes the mark (step 4), also after a reverted swap."""
    if fs.exists(directory / file_names.MOVED_FROM):
        fs.remove(directory / file_names.MOVED_FROM)
        fs.sync_dir(directory)


class SwappedLog(NamedTuple):
    """One of the two logs, its log directory and its new path."""

    log: Log
    directory: LogDirectory
    new_path: Path


def rename_both(fs: FileSystem, current: SwappedLog, future: SwappedLog) -> None:
    """Renames both directories (steps 2 and 3); raises OSError if the log was not replaced.

    A failure takes its log directory offline. If it is the directory of the copy, the current log
    gets its name back.
    """
    original = current.log.directory
    try:
        # The old log first. In the other order a crash would leave two directories of the same
        # name, and the start could not tell which one has the newer records.
        rename_durably(fs, original, current.new_path)
    except OSError as error:
        current.directory.health.fail(error)
        raise
    try:
        rename_durably(fs, future.log.directory, future.new_path)
    except OSError as error:
        future.directory.health.fail(error)
        _put_back(fs, current, original)
        raise
    current.log.moved(current.new_path)
    future.log.moved(future.new_path)


def _put_back(fs: FileSystem, current: SwappedLog, original: Path) -> None:
    try:
        rename_durably(fs, current.new_path, original)
    except OSError as error:
        current.directory.health.fail(error)


def settle(dirs: LogDirs, unique: str) -> None:
    """Completes or reverts interrupted swaps before logs are loaded."""
    for directory in dirs.online:
        try:
            for partition, path in directory.partitions():
                if _note(directory.fs, path) is not None:
                    _settle_named(dirs, directory, partition, path, unique)
            for partition, path in directory.futures():
                source = _note(directory.fs, path)
                if source is not None:
                    _settle_copy(dirs, directory, partition, path, source)
        except OSError as error:
            directory.health.fail(error)


def _settle_named(
    dirs: LogDirs, directory: LogDirectory, topic_partition: TopicPartition, path: Path, unique: str
) -> None:
    if len(_holders(dirs, topic_partition)) == 1:
        remove_note(directory.fs, path)
        return
    name = file_names.future_dir(topic_partition, unique)
    if name is None:
        raise AssertionError(f"{topic_partition} was moved although its name is too long")
    rename_durably(directory.fs, path, directory.path / name)


def _settle_copy(
    dirs: LogDirs, directory: LogDirectory, topic_partition: TopicPartition, path: Path, source: str
) -> None:
    if _holders(dirs, topic_partition):
        remove_note(directory.fs, path)
    # While the disk of the source is offline, its log may still have the partition's name: then
    # step 2 was not reached. A later start, with that disk, decides.
    elif source not in {str(failed) for failed in dirs.offline}:
        path_of_log = directory.path / file_names.partition_dir(topic_partition)
        rename_durably(directory.fs, path, path_of_log)
        remove_note(directory.fs, path_of_log)


def _holders(dirs: LogDirs, topic_partition: TopicPartition) -> list[LogDirectory]:
    name = file_names.partition_dir(topic_partition)
    return [found for found in dirs.online if found.fs.is_dir(found.path / name)]


def _note(fs: FileSystem, directory: Path) -> str | None:
    try:
        return read_text(fs, directory / file_names.MOVED_FROM)
    except CorruptFileError:
        return ""
