"""A client that does as little as possible: prepared batches, responses mostly not decoded.

The difference between a rate under this load and the machine's limit is the cost of the broker. A
real client that is slower than this driver adds its own cost. It runs as a separate process:

`python -m benchmarks.raw_driver produce|consume ADDRESS TOPIC COUNT SIZE` prints JSON. The modes
`requests` and `fetches` keep COUNT connections busy with a request for one record of SIZE bytes
each at a time; a process id as last argument adds the CPU time of that process, the broker, to the
result. Both use epoll and frames made beforehand, so that on two cores the broker is measured.
"""

import json
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator

import psutil

from barnabas.records.batch import iter_batches
from barnabas.records.builder import build_batch
from barnabas.wire.headers import RequestHeader, decode_response_header, encode_request
from barnabas.wire.message import Message
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

BATCH_BYTES = 1_000_000
IN_FLIGHT = 5
REQUESTS_SECONDS = float(os.environ.get("BARNABAS_BENCH_SECONDS", "3"))
FETCH_BYTES = 16 * 1024**2
PRODUCE_VERSION, FETCH_VERSION, METADATA_VERSION = 9, 12, 9
Figures = dict[str, float]


class Peer:
    """A blocking connection with one receive buffer for all responses."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = memoryview(bytearray(FETCH_BYTES + BATCH_BYTES * 2))

    def send(self, frame: bytes) -> None:
        self._socket.sendall(frame)

    def receive(self) -> memoryview:
        """The next response, in a buffer that the one after it overwrites."""
        self._fill(self._buffer[:4])
        (size,) = struct.unpack_from(">i", self._buffer)
        self._fill(self._buffer[:size])
        return self._buffer[:size]

    def _fill(self, space: memoryview) -> None:
        while space:
            count = self._socket.recv_into(space)
            if not count:
                raise ConnectionError("the broker closed the connection")
            space = space[count:]


def frame_of(request: Message, version: int) -> bytes:
    parts = encode_request(RequestHeader(request.API_KEY, version, 1, "bench"), request)
    return b"".join(bytes(part) for part in parts)  # type: ignore[arg-type]


def make_topic(peer: Peer, topic: str) -> None:
    """Have the topic made, and wait until it has a leader."""
    request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=True)
    pause = threading.Event()
    while True:
        peer.send(frame_of(request, METADATA_VERSION))
        frame = peer.receive()
        _, offset = decode_response_header(frame, MetadataRequest.API_KEY, METADATA_VERSION)
        found = MetadataResponse.decode(frame, METADATA_VERSION, offset).topics
        if found and not found[0].error_code and found[0].partitions:
            return
        pause.wait(0.05)


def produce(address: str, topic: str, count: int, size: int) -> Figures:
    peer = Peer(address)
    make_topic(peer, topic)
    per_batch = max(BATCH_BYTES // size, 1)
    frame = produce_frame(topic, per_batch, size)
    number_of_requests = -(-count // per_batch)
    begin, cpu = time.perf_counter(), time.process_time()
    for number in range(number_of_requests):
        if number >= IN_FLIGHT:
            _check_stored(peer)
        peer.send(frame)
    for _ in range(min(IN_FLIGHT, number_of_requests)):
        _check_stored(peer)
    return {
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "count": number_of_requests * per_batch,
    }


def _check_stored(peer: Peer) -> None:
    frame = peer.receive()
    _, offset = decode_response_header(frame, ProduceRequest.API_KEY, PRODUCE_VERSION)
    answer = ProduceResponse.decode(frame, PRODUCE_VERSION, offset)
    error = answer.responses[0].partition_responses[0].error_code
    if error:
        raise RuntimeError(f"the broker answered {error}")


def requests(
    address: str, topic: str, count: int, size: int, broker_pid: int | None = None
) -> Figures:
    """One Produce at a time on each of `count` connections, for a fixed time after a warm-up."""
    make_topic(Peer(address), topic)
    return _keep_busy(address, produce_frame(topic, 1, size), count, broker_pid)


def fetches(
    address: str, topic: str, count: int, size: int, broker_pid: int | None = None
) -> Figures:
    """One Fetch of one record at a time on each of `count` connections."""
    peer = Peer(address)
    make_topic(peer, topic)
    peer.send(produce_frame(topic, 1, size))
    _check_stored(peer)
    partition = FetchPartition(0, fetch_offset=0, partition_max_bytes=size)
    topics = [FetchTopic(topic, partitions=[partition])]
    request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=FETCH_BYTES, topics=topics)
    return _keep_busy(address, frame_of(request, FETCH_VERSION), count, broker_pid)


def _keep_busy(address: str, frame: bytes, count: int, broker_pid: int | None) -> Figures:
    load = RepeatedRequest(address, frame, count)
    broker = None if broker_pid is None else psutil.Process(broker_pid)
    load.run(REQUESTS_SECONDS / 3)
    begin, cpu, broker_cpu = time.perf_counter(), time.process_time(), _cpu_seconds(broker)
    served = load.run(REQUESTS_SECONDS)
    return {
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "broker_cpu_seconds": _cpu_seconds(broker) - broker_cpu,
        "count": served,
    }


def _cpu_seconds(process: psutil.Process | None) -> float:
    if process is None:
        return 0.0
    times = process.cpu_times()
    return float(times.user + times.system)


class RepeatedRequest:
    """Sends the same frame on each connection again as soon as its response has arrived.

    All responses have the size of the first one.
    """

    def __init__(self, address: str, frame: bytes, count: int) -> None:
        probe = Peer(address)
        probe.send(frame)
        self._response_size = len(probe.receive()) + 4
        self._frame = frame
        self._epoll = select.epoll()
        self._calls: dict[int, tuple[Callable[[int], bytes], Callable[[bytes], int]]] = {}
        host, _, port = address.rpartition(":")
        for _ in range(count):
            made = socket.create_connection((host, int(port)))
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._epoll.register(made.fileno(), select.EPOLLIN)
            self._calls[made.fileno()] = made.recv, made.send
            made.sendall(frame)
        self._received = dict.fromkeys(self._calls, 0)
        self._idle = False

    def run(self, seconds: float) -> int:
        """Returns the number of responses."""
        if self._idle:
            self._idle = False
            for _, send in self._calls.values():
                send(self._frame)
        served, end = 0, time.perf_counter() + seconds
        received, size, frame = self._received, self._response_size, self._frame
        while time.perf_counter() < end:
            for number, _ in self._epoll.poll():
                receive, send = self._calls[number]
                data = receive(65536)
                if not data:
                    raise RuntimeError("the broker closed the connection")
                received[number] += len(data)
                if received[number] == size:
                    received[number] = 0
                    send(frame)
                    served += 1
        return served

    def drain(self) -> None:
        """Waits for the responses under way; the next `run` sends on all connections again."""
        for number, (receive, _) in self._calls.items():
            while self._received[number] < self._response_size:
                self._received[number] += len(receive(65536))
            self._received[number] = 0
        self._idle = True


def produce_frame(topic: str, records: int, size: int) -> bytes:
    now_ms = time.time_ns() // 1_000_000
    batch = build_batch([(None, bytes(size))] * records, timestamp_ms=now_ms)
    data = TopicProduceData(topic, partition_data=[PartitionProduceData(0, bytes(batch))])
    return frame_of(ProduceRequest(None, -1, 30_000, [data]), PRODUCE_VERSION)


def consume(address: str, topic: str, count: int, size: int) -> Figures:
    peer = Peer(address)
    first = 0
    seen, begin, cpu = 0, 0.0, 0.0
    for end in _fetched(peer, topic):
        if not seen:  # the first response includes the set-up, as in the other drivers
            begin, cpu, first = time.perf_counter(), time.process_time(), end
        seen = end
        if seen >= count:
            break
    return {
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "count": seen - first,
    }


def _fetched(peer: Peer, topic: str) -> Iterator[int]:
    """Fetch from the start, one request after the other; yields how far it has come."""
    position = 0
    while True:
        partition = FetchPartition(0, fetch_offset=position, partition_max_bytes=FETCH_BYTES)
        request = FetchRequest(
            max_wait_ms=500,
            min_bytes=1,
            max_bytes=FETCH_BYTES,
            topics=[FetchTopic(topic, partitions=[partition])],
        )
        peer.send(frame_of(request, FETCH_VERSION))
        frame = peer.receive()
        _, offset = decode_response_header(frame, FetchRequest.API_KEY, FETCH_VERSION)
        answer = FetchResponse.decode(frame, FETCH_VERSION, offset).responses[0].partitions[0]
        if answer.error_code or not answer.records:
            raise RuntimeError(f"the broker answered {answer.error_code} and no records")
        for _, header in iter_batches(answer.records):
            position = header.next_offset
        yield position


if __name__ == "__main__":
    mode, address, topic, *numbers = sys.argv[1:]
    run: Callable[..., Figures] = {
        "produce": produce,
        "consume": consume,
        "requests": requests,
        "fetches": fetches,
    }[mode]
    print(json.dumps(run(address, topic, *map(int, numbers))))
