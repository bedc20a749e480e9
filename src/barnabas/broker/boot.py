"""Detects how the last run ended: clean shutdown, killed process, or power loss.

A killed process loses no written data, because the page cache survives it. After a power loss the
end of every log may be missing. The kernel's boot id, stored in each log directory at start,
distinguishes the two.

Replicas whose end may be missing are *doubtful* until they have caught up with a leader. The file
`doubtful-replicas` keeps them over further restarts.
"""

from collections.abc import Set
from pathlib import Path

from barnabas.model.ids import TopicPartition
from barnabas.replication.unclean_start import StartKind
from barnabas.storage.checkpoint_files import read_offsets, read_text, replace_file, write_offsets
from barnabas.storage.log_manager import LogManager

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NOTE = "last-boot-id"
_DOUBTFUL = "doubtful-replicas"


def start_kind(logs: LogManager) -> StartKind:
    """Returns how the last run ended and stores the current boot id; called after loading."""
    current = _current_boot()
    kinds = []
    for directory in logs.dirs.online:
        note = directory.path / _NOTE
        last = (read_text(directory.fs, note) or "").strip()
        if last != current and current:
            replace_file(directory.fs, note, current.encode())
        if directory.clean or not last:
            kinds.append(StartKind.CLEAN)
        else:
            kinds.append(StartKind.CRASHED if last == current else StartKind.POWER_LOST)
    for worst in (StartKind.POWER_LOST, StartKind.CRASHED):
        if worst in kinds:
            return worst
    return StartKind.CLEAN


def doubtful_replicas(logs: LogManager) -> frozenset[TopicPartition]:
    """Returns the replicas that lost their end, possibly, in this or an earlier power loss."""
    known = {
        partition
        for directory in logs.dirs.online
        for partition in read_offsets(directory.fs, directory.path / _DOUBTFUL)
    }
    if start_kind(logs) is StartKind.POWER_LOST:
        known.update(log.topic_partition for log in logs)
    keep_doubtful(logs, known)
    return frozenset(known)


def keep_doubtful(logs: LogManager, doubtful: Set[TopicPartition]) -> None:
    """Stores the doubtful replicas; writes only changed files."""
    for directory in logs.dirs.online:
        path = directory.path / _DOUBTFUL
        here = {log.topic_partition: log.log_end_offset for log in logs.logs_in(directory.path)}
        wanted = {tp: end for tp, end in here.items() if tp in doubtful}
        if wanted.keys() != read_offsets(directory.fs, path).keys():
            write_offsets(directory.fs, path, wanted)


def _current_boot() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
