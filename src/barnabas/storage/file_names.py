"""Names of the files and directories in a log directory, as in Kafka.

The directory of a partition is `<topic>-<partition>`; a segment's files share a base name, its base
offset in 20 digits. A suffix after the extension marks the state of a file:

    .deleted   replaced or expired, to be unlinked after file.delete.delay.ms
    .cleaned   being written by the cleaner, worthless after a crash
    .swap      written by the cleaner and complete, about to take its place
    .stranded  a log file behind a gap or a damaged batch, set aside by recovery and never read

Directories to be deleted are `<topic>-<partition>.<32 hex digits>-delete`, copies during a move
from another log directory `<topic>-<partition>.<32 hex digits>-future`.
"""

import re
from pathlib import Path

from barnabas.model.ids import TopicPartition, topic_name_problem

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
SEGMENT_EXTENSIONS = (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)

DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"
STRANDED = ".stranded"

DELETE_DIR = "-delete"
FUTURE_DIR = "-future"
STRAY_DIR = "-stray"

EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
MOVED_FROM = "moved-from"
RECOVERY_POINTS = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS = "log-start-offset-checkpoint"
HIGH_WATERMARKS = "replication-offset-checkpoint"
CLEANER_OFFSETS = "cleaner-offset-checkpoint"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
BOOT_ID = ".boot_id"
LOCK = ".lock"

_MAX_NAME = 255
_FUTURE_DIR = re.compile(rf"(.+-\d+)\.[0-9a-f]{{32}}{FUTURE_DIR}")
_OFFSET_FILE = re.compile(r"(\d{20})(\.[a-z]+)((?:\.[a-z]+)?)")


def segment_file(directory: Path, base_offset: int, extension: str, suffix: str = "") -> Path:
    """Returns the path of one file of a segment.

    >>> segment_file(Path("d"), 42, LOG).name
    '00000000000000000042.log'
    """
    return directory / f"{base_offset:020d}{extension}{suffix}"


def parse_offset_file(name: str) -> tuple[int, str, str] | None:
    """Returns (base offset, extension, suffix) of a segment's file; None for any other name."""
    match = _OFFSET_FILE.fullmatch(name)
    return None if match is None else (int(match[1]), match[2], match[3])


def partition_dir(topic_partition: TopicPartition) -> str:
    return f"{topic_partition.topic}-{topic_partition.partition}"


def parse_partition_dir(name: str) -> TopicPartition | None:
    """Returns the partition of a directory; None for other and for deleted directories.

    >>> parse_partition_dir("a-b.c-12")
    TopicPartition(topic='a-b.c', partition=12)
    """
    topic, dash, number = name.rpartition("-")
    if not dash or not number.isascii() or not number.isdigit():
        return None
    if topic_name_problem(topic) is not None:
        return None
    return TopicPartition(topic, int(number))


def deleted_dir(topic_partition: TopicPartition, unique: str) -> str:
    """Returns the name of a partition's directory before its removal, shortened if necessary."""
    tail = f"-{topic_partition.partition}.{unique}{DELETE_DIR}"
    return topic_partition.topic[: _MAX_NAME - len(tail)] + tail


def future_dir(topic_partition: TopicPartition, unique: str) -> str | None:
    """Returns the name of a partition's copy during a move; None if it would be too long."""
    name = f"{partition_dir(topic_partition)}.{unique}{FUTURE_DIR}"
    return name if len(name) <= _MAX_NAME else None


def parse_future_dir(name: str) -> TopicPartition | None:
    """Returns the partition of a copy's directory; None for other directories.

    >>> parse_future_dir("a.b-3." + 32 * "0" + "-future")
    TopicPartition(topic='a.b', partition=3)
    """
    match = _FUTURE_DIR.fullmatch(name)
    return None if match is None else parse_partition_dir(match[1])
