"""Forks and Ctrl-C, each in a child interpreter that imports nothing but barnabas.

The promises are those of docs/producer.md and docs/consumer.md; test_exit.py has those about the
end of a program and test_graceful.py those about SIGTERM.
"""

import subprocess
import sys
import textwrap

import pytest

from barnabas import SimpleConsumer
from barnabas.testing import Broker

pytestmark = pytest.mark.integration
CHILD_SECONDS = 60


def run(program, *arguments):
    """Run a program in a bare interpreter; its completed process."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=CHILD_SECONDS,
        check=False,
    )


def stored(broker, topic):
    with SimpleConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer:
        return consumer.latest_offset(topic, 0)


FORK = """
import os, sys
from barnabas import Consumer, LocalError, Producer, SimpleConsumer
from barnabas.admin import Admin
servers, topic = sys.argv[1:]
"""

CLIENTS = {
    "Producer.send": (
        "Producer({'bootstrap.servers': servers}); client.send(topic, b'parent').result(30)",
        "client.send(topic, b'child').result(30)",
    ),
    "Producer.flush": (
        "Producer({'bootstrap.servers': servers}); client.send(topic, b'parent').result(30)",
        "client.flush(30)",
    ),
    "Consumer.poll": (
        "Consumer({'bootstrap.servers': servers, 'group.id': topic}); client.subscribe([topic]);"
        " client.poll(1)",
        "client.poll(5)",
    ),
    "Consumer.commit": (
        "Consumer({'bootstrap.servers': servers, 'group.id': topic}); client.subscribe([topic]);"
        " client.poll(1)",
        "client.commit()",
    ),
    "SimpleConsumer.latest_offset": (
        "SimpleConsumer(bootstrap_servers=servers); client.latest_offset(topic, 0)",
        "client.latest_offset(topic, 0)",
    ),
    "Admin.list_topics": (
        "Admin({'bootstrap.servers': servers}); client.list_topics()",
        "client.list_topics()",
    ),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_of_the_parent_is_rejected_in_a_forked_child(broker, topic_name, name):
    """It raises at once; the child and the parent both end, and the parent's client still works."""
    broker.topic(topic_name, partitions=1)
    make, use = CLIENTS[name]
    program = FORK + textwrap.dedent(f"""
        client = {make.replace(";", chr(10)).replace(chr(10) + " ", chr(10))}
        if os.fork() == 0:
            try:
                {use}
            except LocalError as error:
                assert "fork" in str(error), error
                print("refused", flush=True)
            sys.exit(0)
        _, status = os.wait()
        {use}
        client.close()
        sys.exit(os.waitstatus_to_exitcode(status))
    """).replace("\n        ", "\n")
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n", "")


@pytest.mark.parametrize("closing", ["client.close()", "pass"])
def test_a_child_ends_with_the_parents_clients_closed_or_not(broker, topic_name, closing):
    broker.topic(topic_name, partitions=1)
    program = FORK + textwrap.dedent(f"""
        clients = [
            Producer({{'bootstrap.servers': servers}}),
            Consumer({{'bootstrap.servers': servers, 'group.id': topic}}),
            SimpleConsumer(bootstrap_servers=servers),
            Admin({{'bootstrap.servers': servers}}),
        ]
        clients[0].send(topic, b'parent').result(30)
        clients[1].subscribe([topic])
        clients[1].poll(1)
        if os.fork() == 0:
            for client in clients:
                {closing}
            sys.exit(7)
        _, status = os.wait()
        clients[0].send(topic, b'after').result(30)
        clients[1].commit()
        for client in clients:
            client.close()
        sys.exit(os.waitstatus_to_exitcode(status))
    """)
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stderr) == (7, "")
    assert stored(broker, topic_name) == 2


def test_new_clients_of_a_forked_child_work(broker, topic_name):
    broker.topic(topic_name, partitions=1)
    program = FORK + textwrap.dedent("""
        parents = Producer({'bootstrap.servers': servers})
        parents.send(topic, b'parent').result(30)
        if os.fork() == 0:
            with Producer({'bootstrap.servers': servers}) as own:
                own.send(topic, b'child').result(30)
            config = {'bootstrap.servers': servers, 'group.id': topic}
            with Consumer({**config, 'auto.offset.reset': 'earliest'}) as consumer:
                consumer.subscribe([topic])
                seen = []
                while len(seen) < 2:
                    seen += [r.value for records in consumer.poll(5).values() for r in records]
            print(seen, flush=True)
            unclosed = Producer({'bootstrap.servers': servers, 'linger.ms': 60000})
            unclosed.send(topic, b'at exit')
            sys.exit(0)
        os.wait()
    """)
    done = run(program, broker.bootstrap_servers, topic_name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[b'parent', b'child']\n"
    assert stored(broker, topic_name) == 3


@pytest.mark.parametrize(
    "wait",
    [
        "future.result()",
        "producer.flush()",
        "[producer.send(topic, bytes(1000)) for _ in range(100)]",
    ],
)
def test_ctrl_c_ends_a_wait_of_the_producer_and_nothing_else(topic_name, wait):
    """The broker responds only after the test allows it; then the producer delivers everything."""
    program = """
        import os, signal, sys, threading
        from barnabas import Producer
        from barnabas.testing import Broker
        topic = sys.argv[1]
        with Broker() as broker:
            broker.topic(topic, partitions=1)
            config = {"bootstrap.servers": broker.bootstrap_servers, "buffer.memory": 20000}
            producer = Producer({**config, "batch.size": 1000})
            producer.send(topic, b"first").result(30)
            failing = broker.fail("Produce", "NOT_ENOUGH_REPLICAS", times=None)
            future = producer.send(topic, b"second")
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                WAIT
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            broker.heal()
            print(future.result(30).offset, producer.send(topic, b"third").result(30).offset > 1)
            producer.close()
    """
    done = run(program.replace("WAIT", wait), topic_name)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "interrupted\n1 True\n"


@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_a_killed_process_delivers_nothing(broker, topic_name, ending):
    broker.topic(topic_name, partitions=1)
    program = FORK + textwrap.dedent(f"""
        producer = Producer({{'bootstrap.servers': servers, 'linger.ms': 60000}})
        producer.send(topic, b'lost')
        {ending}
    """)
    run(program, broker.bootstrap_servers, topic_name)
    assert stored(broker, topic_name) == 0


def test_an_embedded_broker_that_is_never_stopped_ends_with_its_program(tmp_path):
    program = """
        import sys
        from barnabas import Producer
        from barnabas.testing import Broker
        broker = Broker(data_dir=sys.argv[1])
        broker.start() if hasattr(broker, "start") else broker.__enter__()
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        producer.send("t", b"v").result(30)
    """
    done = run(program, str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    with Broker(data_dir=tmp_path) as again:
        assert [record.value for record in again.records("t")] == [b"v"]
