"""A blocking tool on the old consumer's registry: calls to a worker that lives on a loop.

What reports on groups and what moves their offsets have this in common: a session of ZooKeeper, a
loop of their own unless one is lent to them, and an end for both.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from barnabas.clients.connector.settings import ConnectorSettings
from barnabas.clients.connector.tree_source import TreeSource
from barnabas.clients.core.loop_thread import LoopThread
from barnabas.zk.tree import MetadataTree


class RegistryWorker(Protocol):
    """The loop's side of a tool."""

    async def close(self) -> None: ...


W = TypeVar("W", bound=RegistryWorker)


class RegistryTool(Generic[W]):
    """Close it, or use `with`."""

    def __init__(
        self,
        settings: ConnectorSettings,
        make_worker: Callable[[MetadataTree, ConnectorSettings], W],
        open_tree: TreeSource,
        loop_thread: LoopThread | None,
    ) -> None:
        self._owns_loop = loop_thread is None
        self._loop = loop_thread or LoopThread("barnabas-registry-tool")

        async def start() -> W:
            return make_worker(await open_tree(settings), settings)

        try:
            self._worker = self._loop.call(start())
        except BaseException:
            self._close_loop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._loop.call(self._worker.close())
        finally:
            self._close_loop()

    def _close_loop(self) -> None:
        if self._owns_loop:
            self._loop.close()
