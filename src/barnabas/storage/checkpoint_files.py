"""Small files that are replaced as a whole, such as checkpoints of offsets.

A write creates `<name>.tmp`, syncs it, replaces the old file by an atomic rename, and syncs the
directory too (KAFKA-3968): a reader finds the old file or the new one.

Offset checkpoints are text: version 0, the number of entries, then `topic partition offset` per
line. The epoch checkpoint has the same format with other entries.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.storage.errors import CorruptFileError
from barnabas.storage.filesystem import FileSystem

_VERSION = "0"


def replace_file(fs: FileSystem, path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replaces the file at `path` atomically."""
    temporary = path.with_name(path.name + ".tmp")
    file = fs.open(temporary, create=True)
    file.truncate(0)
    file.pwrite(data, 0)
    if durable:
        file.sync()
    fs.rename(temporary, path)
    if durable:
        fs.sync_dir(path.parent)


def read_text(fs: FileSystem, path: Path) -> str | None:
    """Returns the whole file as text; None if it does not exist."""
    if not fs.exists(path):
        return None
    file = fs.open(path)
    try:
        return file.pread(file.size(), 0).decode()
    except UnicodeDecodeError:
        raise CorruptFileError(f"{path} is not text") from None


def write_lines(fs: FileSystem, path: Path, lines: Sequence[str], *, durable: bool = True) -> None:
    """Write a checkpoint of these entries."""
    replace_file(fs, path, _framed(lines), durable=durable)


def read_lines(fs: FileSystem, path: Path) -> list[str]:
    """Returns the entries of a checkpoint; an empty list without a file."""
    text = read_text(fs, path)
    if text is None:
        return []
    version, *rest = text.splitlines() or [""]
    if version != _VERSION:
        raise CorruptFileError(f"{path}: version {version!r} where {_VERSION} was expected")
    count, *lines = rest or [""]
    if not count.isdigit() or int(count) != len(lines):
        raise CorruptFileError(f"{path}: {count!r} entries announced, {len(lines)} found")
    return lines


def write_offsets(fs: FileSystem, path: Path, offsets: Mapping[TopicPartition, int]) -> None:
    write_lines(fs, path, _offset_lines(offsets))


def background_path(path: Path) -> Path:
    """Returns the path of a checkpoint file that will replace `path` later."""
    return path.with_name(path.name + ".background")


def write_temporary_offsets(
    fs: FileSystem, path: Path, offsets: Mapping[TopicPartition, int]
) -> None:
    """Writes and syncs a checkpoint beside the file that it will replace by a rename."""
    file = fs.open(background_path(path), create=True)
    file.truncate(0)
    file.pwrite(_framed(_offset_lines(offsets)), 0)
    file.sync()


def read_offsets(fs: FileSystem, path: Path) -> dict[TopicPartition, int]:
    offsets = {}
    for line in read_lines(fs, path):
        fields = line.split()
        try:
            topic, partition, offset = fields
            offsets[TopicPartition(topic, int(partition))] = int(offset)
        except ValueError:
            raise CorruptFileError(f"{path}: not an offset entry: {line!r}") from None
    return offsets


def _framed(lines: Sequence[str]) -> bytes:
    return "\n".join([_VERSION, str(len(lines)), *lines, ""]).encode()


def _offset_lines(offsets: Mapping[TopicPartition, int]) -> list[str]:
    return [
        f"{topic_partition.topic} {topic_partition.partition} {offset}"
        for topic_partition, offset in sorted(offsets.items())
    ]
