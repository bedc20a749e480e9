"""One request cannot end a broker that has little memory."""

import resource
import socket
import struct
import subprocess
import sys

import pytest

pytestmark = pytest.mark.faults

LIMIT = 1 << 30
COMMAND = [
    sys.executable,
    "-c",
    "import sys; from barnabas.cli.main import main; sys.exit(main())",
    "up",
    "--port",
    "0",
]


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


@pytest.fixture
def limited_broker(tmp_path):
    """The address of a broker in a process of its own, with 1 GiB of address space."""
    command = [*COMMAND, "--data-dir", str(tmp_path)]
    with (tmp_path / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            preexec_fn=limit_memory,
        )
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on "), (tmp_path / "stderr").read_text()
        host, _, port = line.split()[-1].rpartition(":")
        yield process, (host, int(port)), tmp_path / "stderr"
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def send(address, api, version, body):
    """Send one request; return the first bytes of the response, or b"" after a close."""
    with socket.create_connection(address, timeout=60) as sock:
        head = struct.pack(">hhih", api, version, 1, -1)
        try:
            sock.sendall(struct.pack(">i", len(head) + len(body)) + head)
            sock.sendall(body)
            return sock.recv(8)
        except ConnectionError:
            return b""


def empty_names(count):
    return struct.pack(">i", count) + bytes(2 * count)


def nested_arrays(count):
    """OffsetFetch v1: topics without a name and without partitions."""
    return struct.pack(">hi", 0, count) + bytes(6 * count)


def integers(count):
    """OffsetFetch v1: one topic with very many partitions."""
    return struct.pack(">hihi", 0, 1, 0, count) + b"\x7f" * (4 * count)


@pytest.mark.parametrize(
    ("api", "version", "body"),
    [
        pytest.param(3, 1, lambda: empty_names(40_000_000), id="80 MB of empty names"),
        pytest.param(3, 1, lambda: empty_names(10_000_000), id="20 MB of empty names"),
        pytest.param(9, 1, lambda: nested_arrays(15_000_000), id="90 MB of empty arrays"),
        pytest.param(9, 1, lambda: integers(25_000_000), id="100 MB of integers"),
    ],
)
def test_a_request_that_asks_for_too_much_memory_closes_its_connection(
    limited_broker, api, version, body
):
    process, address, log = limited_broker
    assert send(address, api, version, body()) == b""
    assert send(address, 18, 0, b"") != b""
    assert process.poll() is None
    text = log.read_text()
    assert "exceed the memory" in text
    assert "Traceback" not in text
