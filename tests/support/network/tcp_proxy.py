"""A TCP link that can be cut: no bytes pass, and the connections stay open."""

import asyncio
import threading


class TcpProxy:
    """Forwards to 127.0.0.1:`target`; runs on a loop in a separate thread."""

    def __init__(self, target):
        self.port = 0
        self._target = target
        self._loop = asyncio.new_event_loop()
        self._flowing = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tcp-proxy", daemon=True)
        self._thread.start()
        assert self._ready.wait(60)

    def cut(self):
        """Drops all bytes from now on, in both directions."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def heal(self):
        self._loop.call_soon_threadsafe(self._flowing.set)

    def close(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self):
        self._flowing = asyncio.Event()
        self._flowing.set()
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=1 << 20)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        self._loop.run_until_complete(self._end())
        self._loop.close()

    async def _end(self):
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, reader, writer):
        try:
            await self._flowing.wait()
            upstream = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.close()
            return
        await asyncio.gather(
            self._pump(reader, upstream[1]), self._pump(upstream[0], writer), return_exceptions=True
        )

    async def _pump(self, reader, writer):
        try:
            while data := await reader.read(1 << 16):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()
