"""How the last run ended: in order, killed, or with the machine.

A killed process loses nothing that it wrote: the page cache outlives it. A machine that went down
may have lost the end of every log. The two are told apart by the kernel's boot id, noted in each
log directory at start.

Replicas that may lack their end stay doubtful until they have caught up with a leader, however
often the broker is restarted before that; so they are noted as well, in `doubtful-replicas`.
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
    """Judge the directories after they were loaded, and note the present boot in them."""
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
    """The replicas that may have lost their end, in this start or in an earlier one."""
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
    """Note which replicas are doubtful; writes only where that has changed."""
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
