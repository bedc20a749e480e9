"""The loop of a broker process: sockets that are watched directly beside those of asyncio."""

import asyncio
import gc
import os
import socket
import threading

import pytest

from barnabas.net.event_loop import DirectEventLoop, LoopWaker
from barnabas.net.stream import TcpStream


@pytest.fixture
def loop():
    made = DirectEventLoop()
    yield made
    made.close()


@pytest.fixture
def pair():
    first, second = socket.socketpair()
    first.setblocking(False)
    with first, second:
        yield first, second


def run_until(loop: DirectEventLoop, condition) -> None:
    async def wait() -> None:
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0)

    loop.run_until_complete(wait())


def test_a_watched_socket_calls_back_until_it_is_ignored(loop, pair):
    ours, theirs = pair
    received = []
    loop.watch_readable(ours.fileno(), lambda: received.append(ours.recv(10)))
    theirs.send(b"one")
    run_until(loop, lambda: received == [b"one"])
    loop.watch_readable(ours.fileno(), None)
    theirs.send(b"two")
    loop.run_until_complete(asyncio.sleep(0))
    assert received == [b"one"]


def test_one_socket_is_watched_here_and_written_through_asyncio(loop, pair):
    ours, theirs = pair
    seen = []
    loop.watch_readable(ours.fileno(), lambda: seen.append(ours.recv(10)))
    loop.add_writer(ours, seen.append, "writable")
    run_until(loop, lambda: "writable" in seen)
    loop.remove_writer(ours)
    theirs.send(b"data")
    run_until(loop, lambda: b"data" in seen)


def test_a_callback_that_fails_is_reported_and_the_others_go_on(loop, pair):
    ours, theirs = pair
    reported, received = [], []
    loop.set_exception_handler(lambda _loop, context: reported.append(context["exception"]))

    def fail_once() -> None:
        received.append(ours.recv(10))
        if len(received) == 1:
            raise RuntimeError("first")

    loop.watch_readable(ours.fileno(), fail_once)
    theirs.send(b"one")
    run_until(loop, lambda: received == [b"one"])
    theirs.send(b"two")
    run_until(loop, lambda: received == [b"one", b"two"])
    assert [str(error) for error in reported] == ["first"]


def test_a_scheduled_call_follows_in_the_same_iteration(loop, pair):
    ours, theirs = pair
    order = []

    def readable() -> None:
        order.append(ours.recv(10))
        loop.call_soon(order.append, "soon")
        loop.call_soon(loop.stop)

    loop.watch_readable(ours.fileno(), readable)
    theirs.send(b"x")
    loop.run_forever()
    assert order == [b"x", "soon"]


def test_timers_and_short_waits_work_beside_watched_sockets(loop, pair):
    loop.watch_readable(pair[0].fileno(), lambda: None)
    loop.run_until_complete(asyncio.sleep(0.0001))
    assert loop.run_until_complete(asyncio.wait_for(asyncio.sleep(0, "done"), 5)) == "done"


def test_a_callback_may_close_a_socket_that_is_ready_too(loop):
    pairs = [socket.socketpair() for _ in range(2)]
    called = []

    def close_both(name: int) -> None:
        called.append(name)
        for ours, _ in pairs:
            if ours.fileno() >= 0:
                loop.watch_readable(ours.fileno(), None)
                ours.close()

    for number, (ours, theirs) in enumerate(pairs):
        loop.watch_readable(ours.fileno(), lambda number=number: close_both(number))
        theirs.send(b"x")
    run_until(loop, lambda: called)
    for _, theirs in pairs:
        theirs.close()
    assert len(called) == 1


def test_the_selector_knows_registered_sockets_only(loop, pair):
    ours, _ = pair
    registered = len(loop._selector.get_map())
    loop.watch_readable(ours.fileno(), lambda: None)
    assert len(loop._selector.get_map()) == registered
    with pytest.raises(KeyError):
        loop._selector.unregister(ours)


def test_a_stream_watches_directly_and_stops_when_closed(loop):
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
    stream = TcpStream(loop, accepted)
    buffer, received = memoryview(bytearray(10)), []
    stream.watch_readable(lambda: received.append(bytes(buffer[: stream.recv_into(buffer)])))
    client.send(b"data")
    run_until(loop, lambda: received == [b"data"])
    fd = accepted.fileno()
    stream.close()
    client.close()
    assert fd not in loop._selector._masks


# --- wake-up by another thread --------------------------------------------------------------------


@pytest.fixture(params=[DirectEventLoop, asyncio.SelectorEventLoop])
def any_loop(request):
    made = request.param()
    yield made
    made.close()


def test_each_wake_up_of_any_thread_calls_the_function_on_the_loop(any_loop):
    calls = []
    waker = LoopWaker(any_loop, lambda: calls.append(threading.get_ident()))

    def wake_often() -> None:
        for _ in range(200):
            waker.wake()

    threads = [threading.Thread(target=wake_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    run_until(any_loop, lambda: len(calls) == 800)
    for thread in threads:
        thread.join()
    assert set(calls) == {threading.get_ident()}
    any_loop.run_until_complete(asyncio.sleep(0))
    assert len(calls) == 800


def test_a_wake_up_during_the_call_leads_to_another_call(any_loop):
    calls = []

    def called() -> None:
        calls.append(len(calls))
        if len(calls) < 3:
            waker.wake()

    waker = LoopWaker(any_loop, called)
    waker.wake()
    run_until(any_loop, lambda: calls == [0, 1, 2])


def test_a_function_that_fails_is_reported_once(any_loop):
    reported = []
    any_loop.set_exception_handler(lambda _, context: reported.append(context["exception"]))

    def fail() -> None:
        raise ValueError("a defect")

    waker = LoopWaker(any_loop, fail)
    waker.wake()
    run_until(any_loop, lambda: reported)
    any_loop.run_until_complete(asyncio.sleep(0))
    assert [str(error) for error in reported] == ["a defect"]


def test_a_closed_waker_calls_nothing(loop):
    calls = []
    waker, other = (LoopWaker(loop, lambda: calls.append(1)) for _ in range(2))
    waker.close()
    waker.wake()
    other.wake()
    run_until(loop, lambda: calls)
    loop.run_until_complete(asyncio.sleep(0))
    assert calls == [1]


def test_a_closed_loop_cannot_be_woken(any_loop):
    waker = LoopWaker(any_loop, lambda: None)
    any_loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        waker.wake()


def test_the_descriptor_of_a_waker_lives_as_long_as_the_waker():
    loop = DirectEventLoop()
    waker = LoopWaker(loop, lambda: None)
    descriptor = waker._fd
    loop.close()
    os.fstat(descriptor)
    del waker
    gc.collect()
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)
