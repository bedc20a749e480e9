"""Cleans up after an interrupted deletion or compaction in a partition's directory.

    *.deleted, *.tmp   were to be deleted: removed
    *.cleaned          the cleaner had not finished: removed, and with them every `.swap` at or
                       after the lowest of them, because the rename of that group was not complete
    *.swap             complete: the segments in their range are removed, then they replace them

The originals of a group are untouched until the last of its files is called `.swap`, so either all
old segments exist or all new ones.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from barnabas.model.errors import CorruptRecordError
from barnabas.storage import batch_scan, file_names
from barnabas.storage.filesystem import FileSystem

_TEMPORARY = ".tmp"
_RENAME_ORDER = (
    file_names.OFFSET_INDEX,
    file_names.TIME_INDEX,
    file_names.TRANSACTION_INDEX,
    file_names.SNAPSHOT,
    file_names.LOG,
)


class _Leftover(NamedTuple):
    base: int
    extension: str
    path: Path


def clear_leftovers(fs: FileSystem, directory: Path) -> list[str]:
    """Finishes or undoes interrupted work; returns the remaining file names."""
    if not fs.exists(directory):
        fs.make_dirs(directory)
        return []
    names = fs.list_dir(directory)
    for name in names:
        if name.endswith((file_names.DELETED, _TEMPORARY)):
            fs.remove(directory / name)
    swaps = _with_suffix(directory, names, file_names.SWAP)
    cleaned = _with_suffix(directory, names, file_names.CLEANED)
    if not swaps and not cleaned:
        return [n for n in names if not n.endswith((file_names.DELETED, _TEMPORARY))]
    lowest = min((file.base for file in cleaned), default=None)
    undone = [file for file in swaps if lowest is not None and file.base >= lowest]
    # The `.swap` files are removed first: while a `.cleaned` file exists, a second start removes
    # them too.
    for file in [*undone, *reversed(cleaned)]:
        fs.remove(file.path)
    _finish_swap(fs, directory, [file for file in swaps if file not in undone])
    return fs.list_dir(directory)


def _with_suffix(directory: Path, names: Iterable[str], suffix: str) -> list[_Leftover]:
    parsed = ((file_names.parse_offset_file(name), name) for name in names)
    return [
        _Leftover(found[0], found[1], directory / name)
        for found, name in parsed
        if found is not None and found[2] == suffix and found[1] in _RENAME_ORDER
    ]


def _finish_swap(fs: FileSystem, directory: Path, swaps: list[_Leftover]) -> None:
    indexed = {swap.base for swap in swaps if swap.extension == file_names.OFFSET_INDEX}
    for swap in swaps:
        if swap.extension == file_names.LOG:
            _remove_replaced(fs, directory, swap, untouched=swap.base in indexed)
    # The offset index is renamed first: if no `.swap` of it exists, the originals of this base are
    # removed and the files without suffix are new. The log is renamed last, so that a second start
    # repeats this step.
    for swap in sorted(swaps, key=lambda file: _RENAME_ORDER.index(file.extension)):
        fs.rename(swap.path, file_names.segment_file(directory, swap.base, swap.extension))


def _remove_replaced(fs: FileSystem, directory: Path, swap: _Leftover, *, untouched: bool) -> None:
    """Removes the segments that the swapped-in one replaces."""
    start = swap.base if untouched else swap.base + 1
    end = max(_next_offset(fs, swap), swap.base + 1)
    for name in reversed(fs.list_dir(directory)):
        found = file_names.parse_offset_file(name)
        if found is None or found[2] or found[1] not in file_names.SEGMENT_EXTENSIONS:
            continue
        if start <= found[0] < end:
            fs.remove(directory / name)


def _next_offset(fs: FileSystem, swap: _Leftover) -> int:
    file = fs.open(swap.path)
    end = swap.base
    try:
        for _, header in batch_scan.walk(file, 0, file.size()):
            end = header.next_offset
    except CorruptRecordError:
        return end
    return end
