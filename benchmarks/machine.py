"""The machine's limit for moving bytes as a broker must: socket to file, and sendfile back.

Two processes exchange bytes over loopback with large buffers and without a protocol. The
difference between this rate and the rate of a broker is the cost of the broker. The calling process
has the role of the broker; its CPU time is measured too, because that does not depend on the load
of the machine.
"""

import multiprocessing
import os
import socket
import time
from pathlib import Path
from typing import NamedTuple

CHUNK = 1024 * 1024


class Limit(NamedTuple):
    """Bytes per second, and the CPU seconds of the broker's side."""

    rate: float
    cpu_seconds: float


def warm_memory(directory: Path, total_bytes: int) -> None:
    """Touches `total_bytes` of memory, so that the next writes do not wait for the host.

    A virtual machine gets memory from its host when it touches a page for the first time, and may
    return free pages after some seconds. A write to such memory was seen to be six times slower
    (200 instead of 1,300 MB/s), so the side that happens to use it would look slow.
    """
    path = directory / "warm"
    chunk = bytes(CHUNK)
    with path.open("wb", buffering=0) as file:
        for _ in range(total_bytes // CHUNK + 1):
            file.write(chunk)
    os.sync()  # nothing left to write back, either
    path.unlink()


def socket_to_file(path: Path, total_bytes: int) -> Limit:
    """From a loopback socket into a file."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        sender = multiprocessing.get_context("spawn").Process(
            target=_send, args=(port, total_bytes)
        )
        sender.start()
        connection, _ = server.accept()
        with connection, path.open("wb", buffering=0) as file:
            begin, cpu = time.perf_counter(), time.process_time()
            _receive_into(connection, file.fileno(), total_bytes)
            elapsed, cpu = time.perf_counter() - begin, time.process_time() - cpu
        sender.join()
    return Limit(total_bytes / elapsed, cpu)


def file_to_socket(path: Path, total_bytes: int) -> Limit:
    """From the page cache to a reading loopback peer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        reader = multiprocessing.get_context("spawn").Process(
            target=_drain, args=(port, total_bytes)
        )
        reader.start()
        connection, _ = server.accept()
        with connection, path.open("rb", buffering=0) as file:
            begin, cpu = time.perf_counter(), time.process_time()
            offset = 0
            while offset < total_bytes:
                offset += os.sendfile(
                    connection.fileno(), file.fileno(), offset, min(CHUNK, total_bytes - offset)
                )
            connection.recv(1)
            elapsed, cpu = time.perf_counter() - begin, time.process_time() - cpu
        reader.join()
    return Limit(total_bytes / elapsed, cpu)


def _send(port: int, total_bytes: int) -> None:
    buffer = bytes(CHUNK)
    with socket.create_connection(("127.0.0.1", port)) as peer:
        for _ in range(total_bytes // CHUNK):
            peer.sendall(buffer)
        peer.sendall(buffer[: total_bytes % CHUNK])


def _receive_into(connection: socket.socket, fd: int, total_bytes: int) -> None:
    buffer = memoryview(bytearray(CHUNK))
    left = total_bytes
    while left:
        count = connection.recv_into(buffer)
        os.write(fd, buffer[:count])
        left -= count


def _drain(port: int, total_bytes: int) -> None:
    buffer = bytearray(CHUNK)
    with socket.create_connection(("127.0.0.1", port)) as peer:
        left = total_bytes
        while left:
            left -= peer.recv_into(buffer)
        peer.sendall(b"\0")
