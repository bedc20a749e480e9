"""TLS over the in-memory stream, with OpenSSL's client side by hand."""

import asyncio
import ssl
import struct
from functools import partial

import pytest
import trustme
from support.network.memory_stream import memory_pair

from barnabas.net.close_reasons import CloseReason
from barnabas.net.frame_reader import ConnectionLimits
from barnabas.net.listener import Listener
from barnabas.net.tls_context import TlsSettings, client_context, server_context
from barnabas.net.tls_stream import SCRATCH_BYTES, TlsStream
from barnabas.testing.virtual_clock import VirtualClock


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(directory / "ca.pem"))
    leaf = authority.issue_cert("localhost")
    leaf.private_key_and_cert_chain_pem.write_to_path(str(directory / "server.pem"))
    return directory


def server_side(files, **settings):
    return server_context(
        TlsSettings(
            chain_file=str(files / "server.pem"),
            trust_file=str(files / "ca.pem"),
            **{"peer_certificate": "none", **settings},
        )
    )


def frame(body):
    return struct.pack(">i", len(body)) + body


class Part:
    """A file that is in memory only."""

    fd = -1
    position = 0

    def __init__(self, data):
        self.data = data
        self.released = 0

    def __len__(self):
        return len(self.data)

    def read(self):
        return self.data

    def release(self):
        self.released += 1


class Security:
    def __init__(self, context):
        self._context = context
        self._scratch = memoryview(bytearray(SCRATCH_BYTES))

    def secure(self, stream):
        call_soon = asyncio.get_running_loop().call_soon
        return TlsStream(stream, self._context, self._scratch, call_soon)

    def accepted(self, connection):
        pass


class Peer:
    """A client with OpenSSL's two buffers on the other end of a memory stream."""

    def __init__(self, files, handler, *, capacity=1 << 22, context=None):
        security = Security(context or server_side(files))
        self.clock = VirtualClock()
        self.listener = Listener(
            handler, clock=self.clock, limits=ConnectionLimits(), security=security
        )
        self.raw, below = memory_pair(capacity)
        self.connection = self.listener.serve(security.secure(below))
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        trusting = client_context(TlsSettings(trust_file=str(files / "ca.pem")))
        self.tls = trusting.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")

    async def pump(self, step):
        """Run a step of OpenSSL until it is done, moving bytes both ways."""
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                await self._move()

    async def _move(self):
        pending = memoryview(self._outgoing.read())
        while pending:
            try:
                pending = pending[self.raw.send([pending], more=False) :]
            except BlockingIOError:
                self._drain()
            await asyncio.sleep(0)
        self._drain()
        await asyncio.sleep(0)

    def _drain(self):
        buffer = memoryview(bytearray(1 << 16))
        try:
            while True:
                count = self.raw.recv_into(buffer)
                if not count:
                    self._incoming.write_eof()
                    return
                self._incoming.write(bytes(buffer[:count]))
        except BlockingIOError:
            return

    async def send(self, data):
        await self.pump(self.tls.do_handshake)
        view = memoryview(data)
        while view:
            view = view[self.tls.write(view[: 1 << 16]) :]
            await self._move()

    async def read(self, size):
        found = b""
        while len(found) < size:
            found += await self.pump(partial(self.tls.read, size - len(found)))
        return found

    async def ask(self, data):
        await self.send(data)
        return await asyncio.wait_for(self.read(len(data)), 20)


def echo(connection, data):
    return [frame(bytes(data))]


@pytest.mark.parametrize("capacity", [1 << 22, 4096], ids=["roomy", "narrow"])
async def test_frames_both_ways(files, capacity):
    peer = Peer(files, echo, capacity=capacity)
    body = bytes(range(256)) * 800
    data = frame(b"small") + frame(body) + frame(b"last")
    sending = asyncio.ensure_future(peer.send(data))
    await asyncio.wait_for(sending, 20)
    assert await asyncio.wait_for(peer.read(len(data)), 20) == data
    assert peer.connection.idle


async def test_many_frames_in_one_record_are_all_handled(files):
    peer = Peer(files, echo)
    data = b"".join(frame(b"%d" % number) for number in range(500))
    await peer.send(data)
    assert await asyncio.wait_for(peer.read(len(data)), 20) == data


async def test_bytes_that_wait_decrypted_are_handled_when_the_connection_goes_on(files):
    peer = Peer(files, echo)
    await peer.send(frame(b"first"))
    assert await asyncio.wait_for(peer.read(9), 20) == frame(b"first")
    peer.connection.pause()
    await peer.send(b"".join(frame(b"x" * 1000) for _ in range(100)))
    for _ in range(20):
        await asyncio.sleep(0)
    peer.connection.unpause()
    assert len(await asyncio.wait_for(peer.read(100 * 1004), 20)) == 100 * 1004


async def test_a_file_is_sent_encrypted(files):
    part = Part(bytes(range(256)) * 4000)
    peer = Peer(files, lambda connection, data: [struct.pack(">i", len(part)), part])
    await peer.send(frame(b"fetch"))
    assert (await asyncio.wait_for(peer.read(4 + len(part)), 20))[4:] == part.data
    assert part.released == 1


async def test_a_peer_without_tls_is_rejected_and_logged(files):
    peer = Peer(files, echo)
    peer.raw.send([frame(b"\0\x12\0\0\0\0\0\1\xff\xff")], more=False)
    for _ in range(20):
        await asyncio.sleep(0)
    assert peer.connection.closed
    assert peer.listener.closed_connections.counts[CloseReason.TLS] == 1


async def test_a_client_without_a_certificate_is_rejected_where_one_is_needed(files):
    peer = Peer(files, echo, context=server_side(files, peer_certificate="required"))
    with pytest.raises(ssl.SSLError):
        await peer.ask(frame(b"x"))
    assert peer.listener.closed_connections.counts[CloseReason.TLS] == 1


async def test_old_versions_are_not_spoken(files):
    peer = Peer(files, echo, context=server_side(files, versions=["TLSv1.3"]))
    old = client_context(TlsSettings(trust_file=str(files / "ca.pem"), versions=["TLSv1.2"]))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    peer.tls, peer._incoming, peer._outgoing = (
        old.wrap_bio(incoming, outgoing, server_hostname="localhost"),
        incoming,
        outgoing,
    )
    with pytest.raises(ssl.SSLError):
        await peer.send(frame(b"x"))


async def test_a_peer_that_goes_away_leaves_nothing(files):
    peer = Peer(files, echo)
    await peer.send(frame(b"x"))
    peer.raw.close()
    for _ in range(20):
        await asyncio.sleep(0)
    assert peer.connection.closed
    assert not peer.listener.closed_connections.counts
