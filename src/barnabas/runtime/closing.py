"""Base classes of objects that a `with` or `async with` statement closes."""

from types import TracebackType
from typing import Self


class ClosesOnExit:
    """`with` returns the object itself and calls `close` at the end, also after an error."""

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


class AsyncClosesOnExit:
    """`async with` returns the object itself and awaits `close` at the end, also after an error."""

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
