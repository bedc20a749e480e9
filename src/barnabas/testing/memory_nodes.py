"""Files and directories of the in-memory file system, each with a visible and a durable state.

A sync makes the visible state durable. At a power loss without a sync, a random subset of a file's
modified pages survives, and a random number of the first name changes of a directory.
"""

from random import Random


class Inode:
    """The visible and the durable contents of a file."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.durable = b""
        self.dirty: set[int] = set()

    def sync(self) -> None:
        self.durable = bytes(self.data)
        self.dirty.clear()

    def lose_power(self, dice: Random, page: int) -> None:
        """Keep a random part of the unsynced contents."""
        if self.dirty or len(self.data) != len(self.durable):
            sizes = sorted((len(self.durable), len(self.data)))
            size = dice.choice([*sizes, dice.randint(*sizes)])
            kept = bytearray(self.durable[:size].ljust(size, b"\0"))
            for number in self.dirty:
                start, end = number * page, min((number + 1) * page, size, len(self.data))
                if start < end and dice.random() < 0.5:
                    kept[start:end] = self.data[start:end]
            self.data = kept
        self.sync()


class Directory:
    """The visible and the durable names of a directory, and the unsynced changes in order."""

    def __init__(self) -> None:
        self.entries: dict[str, Inode | Directory] = {}
        self.durable: dict[str, Inode | Directory] = {}
        self.pending: list[dict[str, Inode | Directory | None]] = []

    def change(self, changes: "dict[str, Inode | Directory | None]") -> None:
        """Apply name changes atomically; they become durable with the next sync."""
        _apply(self.entries, changes)
        self.pending.append(changes)

    def sync(self) -> None:
        self.durable = dict(self.entries)
        self.pending.clear()

    def lose_power(self, dice: Random, page: int) -> None:
        self.entries = dict(self.durable)
        for changes in self.pending[: dice.randint(0, len(self.pending))]:
            _apply(self.entries, changes)
        self.sync()
        for node in self.entries.values():
            node.lose_power(dice, page)


def _apply(
    entries: "dict[str, Inode | Directory]", changes: "dict[str, Inode | Directory | None]"
) -> None:
    for name, node in changes.items():
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node
