"""Small files of log directories that are replaced as a whole: checkpoints, markers, properties.

A write creates `<name>.tmp`, syncs it, replaces the old file by an atomic rename, and syncs the
directory too (KAFKA-3968): a reader finds the old file or the new one.

Offset checkpoints are text: version 0, the number of entries, then `topic partition offset` per
line. The epoch checkpoint has the same format with other entries.
`meta.properties` (one per log directory, Java properties): version, broker.id, cluster.id.
`partition.metadata` (one per partition): `version: 0` and `topic_id: <22 characters>`.
`.kafka_cleanshutdown` (one per log directory, JSON): exists only between a clean stop and the next
start. `.boot_id` (one per log directory): the run of the operating system in which the logs were
loaded.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage import file_names
from barnabas.storage.errors import CorruptFileError, is_transient
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
    """Writes a checkpoint of these entries."""
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


# --- Files that describe a directory --------------------------------------------------------------


class MetaProperties(NamedTuple):
    """Owner of a log directory; None if the file has no value."""

    broker_id: int | None
    cluster_id: str | None


def read_meta_properties(fs: FileSystem, directory: Path) -> MetaProperties | None:
    path = directory / file_names.META_PROPERTIES
    text = read_text(fs, path)
    if text is None:
        return None
    values = _properties(text)
    broker_id = values.get("broker.id", values.get("node.id"))
    if values.get("version") not in {"0", "1"} or not (broker_id or "0").isdigit():
        raise CorruptFileError(f"{path} is not a meta.properties of version 0 or 1")
    return MetaProperties(None if broker_id is None else int(broker_id), values.get("cluster.id"))


def write_meta_properties(fs: FileSystem, directory: Path, meta: MetaProperties) -> None:
    lines = ["#", "version=0"]
    if meta.broker_id is not None:
        lines.append(f"broker.id={meta.broker_id}")
    if meta.cluster_id is not None:
        lines.append(f"cluster.id={meta.cluster_id}")
    data = "\n".join([*lines, ""]).encode()
    replace_file(fs, directory / file_names.META_PROPERTIES, data)


def read_topic_id(fs: FileSystem, directory: Path) -> Uuid | None:
    """Returns the topic id of a partition's directory; None if the file is missing or invalid.

    The file is written without a sync, so it may be empty after a power loss; the controller sends
    the id again.
    """
    try:
        text = read_text(fs, directory / file_names.PARTITION_METADATA)
        values = dict(line.split(": ", 1) for line in (text or "").splitlines() if ": " in line)
        return Uuid.parse(values["topic_id"])
    except (CorruptFileError, KeyError, ValueError):
        return None


def write_topic_id(fs: FileSystem, directory: Path, topic_id: Uuid) -> None:
    text = f"version: 0\ntopic_id: {topic_id}"
    path = directory / file_names.PARTITION_METADATA
    replace_file(fs, path, text.encode(), durable=False)


def write_clean_marker(fs: FileSystem, directory: Path, broker_epoch: int = -1) -> None:
    text = json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":"))
    replace_file(fs, directory / file_names.CLEAN_SHUTDOWN, text.encode())


def take_clean_marker(fs: FileSystem, directory: Path) -> bool:
    """Returns whether the last stop was clean; deletes the marker durably before logs are loaded.

    Otherwise a crash while logs are loaded would look like a clean stop (KAFKA-10471).
    """
    path = directory / file_names.CLEAN_SHUTDOWN
    if not fs.exists(path):
        return False
    fs.remove(path)
    fs.sync_dir(directory)
    return True


def same_boot(fs: FileSystem, directory: Path) -> bool:
    """Returns whether the operating system has not restarted since `note_boot`.

    If so, the page cache still has every write of a broker that was killed.
    """
    path, current = directory / file_names.BOOT_ID, fs.boot_id()
    if not current or not fs.exists(path):
        return False
    return fs.open(path).pread(len(current) + 1, 0) == current.encode()


def note_boot(fs: FileSystem, directory: Path) -> None:
    """Stores the boot id after all logs are loaded and recovered.

    The id is not forced to disk: if it is lost, the page cache is lost too.
    """
    current = fs.boot_id()
    if not current or same_boot(fs, directory):
        return
    try:
        replace_file(fs, directory / file_names.BOOT_ID, current.encode(), durable=False)
    except OSError as error:
        if not is_transient(error):  # a full disk must not prevent the start of the broker
            raise


def _properties(text: str) -> dict[str, str]:
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and line[0] not in "#!")
    return {key.strip(): value.strip() for key, _, value in pairs}
