"""A peer that sends any request in any version, and any bytes."""

import asyncio
import contextlib
import struct

from barnabas.wire.api_keys import response_class
from barnabas.wire.headers import RequestHeader, decode_response_header, encode_request


class WirePeer:
    """One connection; responses arrive in order, so a call awaits the next frame."""

    def __init__(self, reader, writer):
        self.reader = reader
        self.writer = writer
        self._correlation = 0
        self.client_id = "peer"

    @classmethod
    async def connect(cls, port, host="127.0.0.1"):
        return cls(*await asyncio.open_connection(host, port, limit=1 << 27))

    async def call(self, request, version, *, timeout=60):
        correlation = self.send(request, version)
        return await self.receive(request.API_KEY, version, correlation, timeout=timeout)

    def send(self, request, version):
        self._correlation += 1
        header = RequestHeader(request.API_KEY, version, self._correlation, self.client_id)
        self.writer.write(b"".join(bytes(part) for part in encode_request(header, request)))
        return self._correlation

    async def receive(self, api_key, version, correlation, *, timeout=60):
        frame = memoryview(await asyncio.wait_for(self.receive_frame(), timeout))
        answered, position = decode_response_header(frame, api_key, version)
        assert answered == correlation
        return response_class(api_key).decode(frame, version, position)

    async def receive_frame(self):
        (size,) = struct.unpack(">i", await self.reader.readexactly(4))
        return await self.reader.readexactly(size)

    async def is_closed(self, timeout=60):
        """Whether the broker closes the connection without a further byte."""
        try:
            return await asyncio.wait_for(self.reader.read(1), timeout) == b""
        except ConnectionError:
            return True

    async def close(self):
        self.writer.close()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()
