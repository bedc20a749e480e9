"""Clients that a program never closes: records reach the broker although the program just ends.

Each program runs in a child interpreter that imports nothing but barnabas: in the test's own
process other modules have registered exit handlers already, and these change what runs when.
"""

import signal
import subprocess
import sys
import textwrap

import pytest

from barnabas import SimpleConsumer
from barnabas.admin import Admin
from barnabas.testing import Broker

pytestmark = pytest.mark.integration
CHILD_SECONDS = 60


def run(program, *arguments, timeout=CHILD_SECONDS):
    """Run a program in a bare interpreter; its completed process."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def stored(broker, topic):
    with SimpleConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        return consumer.latest_offset(topic, 0)


SEND = """
    import sys
    from barnabas import Producer
    producer = Producer({"bootstrap.servers": sys.argv[1], "linger.ms": int(sys.argv[4])})
    for number in range(int(sys.argv[3])):
        producer.send(sys.argv[2], b"%d" % number)
"""


@pytest.mark.parametrize("linger_ms", [0, 5, 60_000])
@pytest.mark.parametrize("count", [1, 1000])
def test_a_program_that_ends_without_close_delivers(broker, topic_name, count, linger_ms):
    done = run(SEND, broker.bootstrap_servers, topic_name, str(count), str(linger_ms))
    assert (done.returncode, done.stderr) == (0, "")
    assert stored(broker, topic_name) == count


@pytest.mark.parametrize(
    ("ending", "code", "message"),
    [
        ("sys.exit(3)", 3, ""),
        ("raise ValueError('a mistake')", 1, "a mistake"),
        ("raise KeyboardInterrupt", -signal.SIGINT, "KeyboardInterrupt"),
        ("del producer", 0, ""),
    ],
)
def test_other_ends_of_a_program_deliver(broker, topic_name, ending, code, message):
    program = textwrap.dedent(SEND) + ending + "\n"
    done = run(program, broker.bootstrap_servers, topic_name, "100", "5")
    assert done.returncode == code
    assert message in done.stderr
    assert "not delivered" not in done.stderr
    assert stored(broker, topic_name) == 100


def test_producers_of_functions_and_threads_deliver(broker, topic_name):
    program = """
        import sys, threading
        from barnabas import Producer

        def work(number):
            producer = Producer({"bootstrap.servers": sys.argv[1]})
            for _ in range(100):
                producer.send(sys.argv[2], b"%d" % number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        work(9)
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stderr) == (0, "")
    assert stored(broker, topic_name) == 400


def test_a_column_producer_delivers(broker, topic_name):
    pytest.importorskip("pyarrow")
    program = """
        import sys
        import pyarrow
        from barnabas.clients.producer.column_producer import ColumnProducer
        producer = ColumnProducer({"bootstrap.servers": sys.argv[1], "linger.ms": 60000})
        producer.send_columns(sys.argv[2], pyarrow.array([b"v"] * 500))
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stderr) == (0, "")
    assert stored(broker, topic_name) == 500


def test_a_leader_whose_name_must_be_resolved_at_exit_is_reached(topic_name):
    """asyncio resolves names in a thread, and no thread can be started at exit."""
    with Broker({"advertised.listeners": "PLAINTEXT://localhost:0"}) as broker:
        servers = broker.bootstrap_servers.replace("localhost", "127.0.0.1")
        done = run(SEND, servers, topic_name, "10", "60000")
        assert (done.returncode, done.stderr) == (0, "")
        assert stored(broker, topic_name) == 10


def test_a_worker_of_multiprocessing_delivers(broker, topic_name, tmp_path):
    """Such a process ends without running atexit handlers."""
    program = """
        import multiprocessing, sys
        from barnabas import Producer

        def work(servers, topic):
            producer = Producer({"bootstrap.servers": servers})
            for _ in range(100):
                producer.send(topic, b"v")

        if __name__ == "__main__":
            method = multiprocessing.get_context(sys.argv[3])
            worker = method.Process(target=work, args=(sys.argv[1], sys.argv[2]))
            worker.start()
            worker.join()
            sys.exit(worker.exitcode)
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    for number, method in enumerate(("fork", "spawn"), 1):
        done = subprocess.run(
            [sys.executable, str(path), broker.bootstrap_servers, topic_name, method],
            capture_output=True,
            text=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), method
        assert stored(broker, topic_name) == 100 * number, method


def test_a_forked_child_that_exits_leaves_the_parents_records_alone(broker, topic_name):
    program = """
        import os, sys
        from barnabas import Producer
        producer = Producer({"bootstrap.servers": sys.argv[1], "linger.ms": 60000})
        producer.send(sys.argv[2], b"v")
        if os.fork() == 0:
            sys.exit(0)
        os.wait()
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stderr) == (0, "")
    assert stored(broker, topic_name) == 1


def test_records_that_cannot_be_delivered_are_counted_on_stderr(topic_name):
    program = """
        import sys
        from barnabas import Producer
        from barnabas.testing import Broker
        import barnabas.clients.core.exit_hooks as exit_hooks
        exit_hooks.EXIT_SECONDS = 1.0
        broker = Broker({})
        broker.start()
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "linger.ms": 60000})
        for _ in range(37):
            producer.send(sys.argv[1], b"v")
        broker.stop()
    """
    done = run(program, topic_name)
    assert "barnabas: 37 records were not delivered" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("ending", ["", "raise ValueError('a mistake')", "sys.exit(3)"])
def test_an_asyncio_program_that_ends_without_close_delivers(broker, topic_name, ending):
    program = f"""
        import asyncio, sys
        from barnabas.aio import Producer

        async def main():
            producer = Producer({{"bootstrap.servers": sys.argv[1], "linger.ms": 60000}})
            for number in range(100):
                await producer.send(sys.argv[2], b"%d" % number)
            {ending}

        asyncio.run(main())
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert "not delivered" not in done.stderr
    assert stored(broker, topic_name) == 100


def test_a_loop_that_stops_and_is_never_closed_delivers_at_exit(broker, topic_name):
    program = """
        import asyncio, sys
        from barnabas.aio import Producer

        async def main():
            global producer
            producer = Producer({"bootstrap.servers": sys.argv[1], "linger.ms": 60000})
            for number in range(100):
                await producer.send(sys.argv[2], b"%d" % number)

        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stderr) == (0, "")
    assert stored(broker, topic_name) == 100


def test_a_loop_closed_at_once_says_how_many_records_are_lost(broker, topic_name):
    program = """
        import asyncio, sys
        from barnabas.aio import Producer

        async def main():
            global producer
            producer = Producer({"bootstrap.servers": sys.argv[1], "linger.ms": 60000})
            for number in range(100):
                await producer.send(sys.argv[2], b"%d" % number)

        loop = asyncio.new_event_loop()
        loop.run_until_complete(main())
        loop.close()
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert "barnabas: 100 records were not delivered: the event loop was closed" in done.stderr
    assert stored(broker, topic_name) == 0


def test_a_transaction_open_at_exit_is_aborted_and_reported(broker, topic_name):
    program = """
        import sys
        from barnabas import Producer
        producer = Producer({"bootstrap.servers": sys.argv[1], "transactional.id": sys.argv[2]})
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(sys.argv[2], b"not committed").result(60)
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert done.stderr == "barnabas: the transaction that was open at exit is aborted\n"
    config = {"bootstrap_servers": broker.bootstrap_servers, "isolation_level": "read_committed"}
    with SimpleConsumer(**config) as consumer:
        assert consumer.latest_offset(topic_name, 0) == 2  # the record and the abort marker


def test_daemon_threads_that_use_clients_at_exit_print_no_traceback(broker, topic_name):
    program = """
        import sys, threading, time
        from barnabas import Consumer, Producer

        def produce():
            while True:
                producer.send(sys.argv[2], b"v")
                time.sleep(0.001)

        def consume():
            while True:
                consumer.poll(0.01)
                polled.set()

        polled = threading.Event()
        config = {"bootstrap.servers": sys.argv[1]}
        producer = Producer(config)
        consumer = Consumer({**config, "group.id": "group-of-" + sys.argv[2]})
        consumer.subscribe([sys.argv[2]])
        producer.send(sys.argv[2], b"v").result(60)
        for work in (produce, consume):
            threading.Thread(target=work, daemon=True).start()
        polled.wait()
        consumer_joined = time.monotonic() + 20
        while not consumer.assignment() and time.monotonic() < consumer_joined:
            time.sleep(0.01)
    """
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stderr) == (0, "")
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        assert not admin.describe_group(f"group-of-{topic_name}").members


CONSUME = """
    import sys
    from barnabas import Consumer
    config = {"bootstrap.servers": sys.argv[1], "group.id": sys.argv[3]}
    consumer = Consumer({**config, "auto.offset.reset": "earliest"})
    consumer.subscribe([sys.argv[2]])
    read = []
    while not read:
        read = [record for records in consumer.poll(1.0).values() for record in records]
"""


@pytest.mark.parametrize(
    ("ending", "committed"),
    [
        ("", [10]),
        ("sys.exit(3)", [10]),
        ("raise ValueError('a mistake')", [0]),
        ("consumer.wakeup(); consumer.poll(1.0)", [10]),
    ],
)
def test_a_consumer_leaves_its_group_at_exit(broker, topic_name, ending, committed):
    """After an uncaught exception the records of the last poll() are read again."""
    run(SEND, broker.bootstrap_servers, topic_name, "10", "5")
    group = f"group-of-{topic_name}"
    program = textwrap.dedent(CONSUME) + ending + "\n"
    run(program, broker.bootstrap_servers, topic_name, group)
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        assert not admin.describe_group(group).members
        found = admin.list_group_offsets([group])[group]
    assert [position.offset for position in found.values()] == committed


AIO_CONSUME = """
    import asyncio, sys
    from barnabas.aio import Consumer

    async def read():
        while not await consumer.poll(1.0):
            pass

    async def work():
        while True:
            await consumer.poll(60)

    async def main():
        global consumer, has_read
        config = {"bootstrap.servers": sys.argv[1], "group.id": sys.argv[3]}
        consumer = Consumer({**config, "auto.offset.reset": "earliest"})
        await consumer.subscribe([sys.argv[2]])
        await read()
        has_read = True
        ENDING
"""
RUN = "asyncio.run(main())"
IN_LOOP = "loop = asyncio.new_event_loop(); loop.run_until_complete(main())"
IN_DAEMON_THREAD = """
loop = asyncio.new_event_loop()
import threading
threading.Thread(target=loop.run_forever, daemon=True).start()
asyncio.run_coroutine_threadsafe(main(), loop).result(30)
"""
WHILE_PROCESSING = """
loop = asyncio.new_event_loop()
import threading, time
threading.Thread(target=loop.run_forever, daemon=True).start()
asyncio.run_coroutine_threadsafe(main(), loop)
while not globals().get("has_read"):
    time.sleep(0.01)
time.sleep(0.2)
raise ValueError("a mistake")
"""


@pytest.mark.parametrize(
    ("ending", "start", "committed"),
    [
        ("pass", RUN, [10]),
        ("pass", IN_LOOP, [10]),
        ("pass", IN_DAEMON_THREAD, [10]),
        ("sys.exit(3)", RUN, [10]),
        ("raise ValueError('a mistake')", RUN, [0]),
        ("raise ValueError('a mistake')", IN_LOOP, [0]),
        ("consumer.wakeup(); await consumer.poll(1.0)", RUN, [10]),
        ("await asyncio.sleep(60)", WHILE_PROCESSING, [0]),
        ("await consumer.poll(60)", WHILE_PROCESSING, [10]),
        ("task = asyncio.create_task(work()); await asyncio.sleep(0.1)", RUN, [10]),
        ("asyncio.current_task().cancel(); await asyncio.sleep(60)", RUN, [0]),
        ("asyncio.current_task().cancel(); await consumer.poll(60)", RUN, [10]),
    ],
)
def test_an_asyncio_consumer_leaves_its_group_at_exit(broker, topic_name, ending, start, committed):
    """The records that a task processes when it fails or the program ends are read again."""
    run(SEND, broker.bootstrap_servers, topic_name, "10", "5")
    group = f"group-of-{topic_name}"
    program = textwrap.dedent(AIO_CONSUME).replace("ENDING", ending) + start + "\n"
    done = run(program, broker.bootstrap_servers, topic_name, group)
    assert "never awaited" not in done.stderr
    assert "never retrieved" not in done.stderr
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        assert not admin.describe_group(group).members
        found = admin.list_group_offsets([group])[group]
    assert [position.offset for position in found.values()] == committed


def committed_by(broker, group):
    with Admin(bootstrap_servers=broker.bootstrap_servers) as admin:
        found = admin.list_group_offsets([group])[group]
    return [position.offset for position in found.values()]


def test_a_worker_of_multiprocessing_that_fails_commits_no_records_in_progress(broker, topic_name):
    run(SEND, broker.bootstrap_servers, topic_name, "10", "5")
    work = textwrap.indent(textwrap.dedent(CONSUME), "    ")
    program = (
        f"import multiprocessing\ndef work():\n{work}\n    raise ValueError('a mistake')\n"
        "worker = multiprocessing.get_context('fork').Process(target=work)\n"
        "worker.start()\nworker.join()\n"
    )
    done = run(program, broker.bootstrap_servers, topic_name, topic_name)
    assert "a mistake" in done.stderr
    assert committed_by(broker, topic_name) == [0]


def test_an_error_after_sigterm_commits_no_records_in_progress(broker, topic_name):
    run(SEND, broker.bootstrap_servers, topic_name, "10", "5")
    work = textwrap.indent(textwrap.dedent(CONSUME), "    ")
    program = (
        f"import barnabas, os, signal\nwith barnabas.graceful():\n{work}\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n    raise ValueError('a mistake')\n"
    )
    done = run(program, broker.bootstrap_servers, topic_name, topic_name)
    assert "a mistake" in done.stderr
    assert committed_by(broker, topic_name) == [0]
