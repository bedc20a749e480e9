"""Base classes of objects that a `with` or `async with` statement closes."""

from types import TracebackType
from typing import NoReturn, Self, SupportsIndex


class _NotPicklable:
    """An object with threads, sockets or files: pickling it raises an error that says so.

    Python's own error would name the first attribute that cannot be pickled, such as a task. Users
    meet it when a client is part of a function that multiprocessing or Spark sends to a worker.
    """

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        name = type(self).__name__
        raise TypeError(f"{name} cannot be pickled: create it in the process that uses it")


class ClosesOnExit(_NotPicklable):
    """Base of objects for the `with` statement.

    `with` returns the object itself and calls `close` at the end, also after an error.
    """

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncClosesOnExit(_NotPicklable):
    """Base of objects for the `async with` statement.

    `async with` returns the object itself and awaits `close` at the end, also after an error.
    """

    async def close(self) -> None:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
