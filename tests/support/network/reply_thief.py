"""A TCP proxy that can drop the response to a request: the server acts, the client gets no
response.
"""

import asyncio
import contextlib


class ReplyThief:
    """Forwards everything until `steal_next` or `cut`."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task] = set()
        self._stealing = False
        self._refusing = False
        self.stolen = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    def steal_next(self) -> None:
        """Drop the next bytes from the server, and the connection with them."""
        self._stealing = True

    def cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    def refuse(self, refusing: bool) -> None:
        """While refusing, all connections are closed."""
        self._refusing = refusing
        if refusing:
            self.cut()

    async def _serve(self, reader, writer) -> None:
        self._tasks.add(asyncio.current_task())
        self._writers.add(writer)
        try:
            if not self._refusing:
                await self._relay(reader, writer)
        except OSError:
            pass
        finally:
            writer.transport.abort()
            self._writers.discard(writer)
            self._tasks.discard(asyncio.current_task())

    async def _relay(self, reader, writer) -> None:
        far_reader, far_writer = await asyncio.open_connection(*self._target)
        try:
            up = asyncio.create_task(self._pump(reader, far_writer, steal=False))
            down = asyncio.create_task(self._pump(far_reader, writer, steal=True))
            await asyncio.wait([up, down], return_when=asyncio.FIRST_COMPLETED)
            for task in (up, down):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, OSError):
                    await task
        finally:
            far_writer.transport.abort()

    async def _pump(self, reader, writer, *, steal: bool) -> None:
        while data := await reader.read(65536):
            if steal and self._stealing:
                self._stealing = False
                self.stolen += 1
                return
            writer.write(data)
            await writer.drain()
