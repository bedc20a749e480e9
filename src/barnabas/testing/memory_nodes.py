"""Files and directories of the file system in memory: what is seen of each, and what is durable.

A sync makes the one into the other. Without it a loss of power keeps a random part: of a file some
of the pages that were touched, of a directory a beginning of the name changes, in their order.
"""

from random import Random


class Inode:
    """A file's contents, seen and durable."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.durable = b""
        self.dirty: set[int] = set()

    def sync(self) -> None:
        self.durable = bytes(self.data)
        self.dirty.clear()

    def lose_power(self, dice: Random, page: int) -> None:
        """Keep a random part of what was not synced."""
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
    """A directory's names, seen and durable, and the changes between the two in order."""

    def __init__(self) -> None:
        self.entries: dict[str, Inode | Directory] = {}
        self.durable: dict[str, Inode | Directory] = {}
        self.pending: list[dict[str, Inode | Directory | None]] = []

    def change(self, changes: "dict[str, Inode | Directory | None]") -> None:
        """Apply name changes that belong together, now; durably with the next sync."""
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
