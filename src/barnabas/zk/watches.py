"""The one-shot watches of one session, by path."""

from barnabas.zk.tree import Watch, WatchEvent, WatchKind


class WatchTable:
    """Data watches and child watches, as ZooKeeper tells them apart.

    `exists` and `get` leave data watches, `children` leaves child watches; a deletion fires both.
    The same callback left twice on a path fires once.
    """

    def __init__(self) -> None:
        self._data: dict[str, dict[Watch, None]] = {}
        self._children: dict[str, dict[Watch, None]] = {}

    def watch_data(self, path: str, watch: Watch | None) -> None:
        if watch is not None:
            self._data.setdefault(path, {})[watch] = None

    def watch_children(self, path: str, watch: Watch | None) -> None:
        if watch is not None:
            self._children.setdefault(path, {})[watch] = None

    def take(self, kind: WatchKind, path: str) -> list[tuple[Watch, WatchEvent]]:
        """Remove and return the watches that this change fires."""
        fired: dict[Watch, None] = {}
        if kind is not WatchKind.CHILD and path in self._data:
            fired |= self._data.pop(path)
        if (kind is WatchKind.CHILD or kind is WatchKind.DELETED) and path in self._children:
            fired |= self._children.pop(path)
        return [(watch, WatchEvent(kind, path)) for watch in fired]

    def take_all(self) -> list[tuple[Watch, WatchEvent]]:
        """Remove every watch: the connection that held them is gone."""
        tables = (self._data, self._children)
        dropped = [
            (watch, WatchEvent(WatchKind.DROPPED, path))
            for table in tables
            for path, watches in table.items()
            for watch in watches
        ]
        for table in tables:
            table.clear()
        return dropped
