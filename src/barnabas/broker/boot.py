"""How the last run ended: in order, killed, or with the machine.

A killed process loses nothing that it wrote: the page cache outlives it. A machine that went down
may have lost the end of every log. The two are told apart by the kernel's boot id, noted in each
log directory at start.
"""

from pathlib import Path

from barnabas.replication.unclean_start import StartKind
from barnabas.storage.log_manager import LogManager

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NOTE = "last-boot-id"


def start_kind(logs: LogManager) -> StartKind:
    """Judge the directories after they were loaded, and note the present boot in them."""
    current = _read(_BOOT_ID)
    kinds = []
    for directory in logs.online_dirs:
        note = directory.path / _NOTE
        last = _read(note)
        if last != current and current:
            note.write_text(current)
        if directory.clean or not last:
            kinds.append(StartKind.CLEAN)
        else:
            kinds.append(StartKind.CRASHED if last == current else StartKind.POWER_LOST)
    for worst in (StartKind.POWER_LOST, StartKind.CRASHED):
        if worst in kinds:
            return worst
    return StartKind.CLEAN


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
