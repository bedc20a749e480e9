"""Consume by every word of the offset grammar, filters and formats; produce in every way."""

import json
import subprocess
import sys

import pytest

from barnabas import Producer

pytestmark = pytest.mark.integration
START_MS = 1_700_000_000_000


@pytest.fixture
def ten(broker, topic_name):
    """One partition with values 0 to 9, a second apart."""
    broker.topic(topic_name, config={"retention.ms": -1})
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in range(10):
            headers = [("even", b"yes")] if number % 2 == 0 else []
            value, key = str(number).encode(), f"key-{number}".encode()
            producer.send(topic_name, value, key, headers, 0, START_MS + number * 1000)
    return topic_name


@pytest.fixture
def consume(cli, broker, ten):
    def run(*arguments):
        timeout = ("--timeout", "1.5", "--format", "raw")
        ran = cli("consume", ten, *timeout, *arguments, servers=broker.bootstrap_servers)
        assert ran.code == 0, ran.err
        return ran.out.replace("\n", "")

    return run


@pytest.mark.parametrize(
    ("word", "values"),
    [
        ("start", "0123456789"),
        ("end", ""),
        (":end", "0123456789"),
        ("7", "789"),
        ("2:5", "234"),
        (":3", "012"),
        ("8:", "89"),
        ("+8", "89"),
        ("-2", "89"),
        ("-2:end", "89"),
        ("+2:-3", "23456"),
        ("@1700000007000", "789"),
        ("@1700000007", "789"),
        ("@2023-11-14T22:13:27Z", "789"),
        ("@1700000002000:1700000004000", "23"),
        ("@2023-11-14T22:13:22Z:2023-11-14T22:13:24Z", "23"),
        ("@2023-11-14T22:13:28Z:end", "89"),
        ("@-1h", ""),
    ],
)
def test_the_offset_grammar(consume, word, values):
    assert consume(f"--offset={word}") == values


def test_kafkas_option_from_beginning(consume):
    assert consume("--from-beginning") == "0123456789"


def test_tail_count_and_filters(consume):
    assert consume("--tail", "3") == "789"
    assert consume("-n", "4") == "0123"
    assert consume("-o", ":end", "--filter-value", "[3-5]") == "345"
    assert consume("-o", ":end", "--filter-key", "key-[12]$") == "12"
    assert consume("-o", ":end", "--filter-header", "even") == "02468"
    assert consume("-o", ":end", "--filter-header", "even=no") == ""
    assert consume("-o", ":end", "--filter-header", "even=y", "-n", "2") == "02"


def test_committed_offsets_and_groups(cli, broker, ten):
    servers = broker.bootstrap_servers
    raw = ("--format", "raw")
    group = f"group-of-{ten}"
    assert cli("consume", ten, "-g", group, "-n", "3", *raw, servers=servers).out == "0\n1\n2\n"
    ran = cli("groups", "reset", group, "-t", ten, "--to-offset", "6", "--execute", servers=servers)
    assert ran.code == 0, ran.err
    committed = ("-o", "committed:end", "-g", group)
    assert cli("consume", ten, *committed, *raw, servers=servers).out == "6\n7\n8\n9\n"
    assert cli("consume", ten, "-g", group, "-n", "1", *raw, servers=servers).out == "6\n"


def test_printf(cli, broker, ten):
    form = r"%t/%p/%o %k=%v %K %V %T %d %h %%\x41\n"
    ran = cli("consume", f"{ten}:0", "-n", "1", "-f", form, servers=broker.bootstrap_servers)
    assert ran.out == f"{ten}/0/0 key-0=0 5 1 {START_MS} 2023-11-14T22:13:20.000Z even=yes %A\n"
    ran = cli("consume", ten, "-f", "%z", servers=broker.bootstrap_servers)
    assert ran.code == 2
    assert "unknown %z" in ran.err


@pytest.fixture
def produce(cli, broker, topic_name):
    broker.topic(topic_name, partitions=2)

    def run(*arguments, stdin=b"", command=("produce",)):
        ran = cli(*command, topic_name, *arguments, stdin=stdin, servers=broker.bootstrap_servers)
        assert ran.code == 0, ran.err
        return [
            (record.partition, record.key, record.value, list(record.headers))
            for record in broker.records(topic_name)
        ]

    return run


def test_consume_ends_when_its_reader_is_gone(broker, ten):
    command = [sys.executable, "-m", "barnabas", "consume", ten, "--format", "raw"]
    with subprocess.Popen(
        [*command, "-b", broker.bootstrap_servers], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"0\n"
        process.stdout.close()
        assert process.wait(60) == 0


def test_produce_names_the_line(cli, broker, ten):
    ran = cli("produce", ten, "-K", ":", servers=broker.bootstrap_servers, stdin=b"k:v\nnokey\n")
    assert (ran.code, ran.err) == (
        2,
        f"produced 1 record to {ten}\nbarnabas produce: line 2: no key separator ':' in 'nokey'\n",
    )
    arguments = ("produce", ten, "--format", "json")
    ran = cli(*arguments, servers=broker.bootstrap_servers, stdin=b'{"value": "x"}\n{\n')
    assert ran.code == 1
    assert "line 2: b'{' is not JSON" in ran.err


def test_produce_names_the_file_and_the_records_before_the_line(cli, broker, ten, tmp_path):
    good, broken = tmp_path / "good.jsonl", tmp_path / "broken.jsonl"
    good.write_text('{"value": "a"}\n{"value": "b"}\n')
    broken.write_text('{"value": "c"}\n{"value"\n{"value": "d"}\n')
    command = ("produce", ten, "--format", "json", good, broken)
    ran = cli(*command, servers=broker.bootstrap_servers)
    reported, error = ran.err.splitlines()
    assert ran.code == 1
    assert reported == f"produced 3 records to {ten}"
    assert error.startswith(f"barnabas produce: {broken}, line 2: b'{{\"value\"' is not JSON")
    assert [record.value for record in broker.records(ten)][-3:] == [b"a", b"b", b"c"]


def test_produce_lines(produce):
    sent = produce("-p", "1", "-H", "a=1", "-H", "b", stdin=b"one\ntwo \xff\n")
    headers = [("a", b"1"), ("b", None)]
    assert sent == [(1, None, b"one", headers), (1, None, b"two \xff", headers)]


def test_produce_keys(produce):
    sent = produce("-K", r"\t", "-p", "0", "--empty-as-null", stdin=b"k\tv\nk2\t\n")
    assert sent == [(0, b"k", b"v", []), (0, b"k2", None, [])]


def test_produce_arguments_and_tombstones(produce):
    assert produce("-p", "0", "-k", "k", "--value", "x")[0][:3] == (0, b"k", b"x")
    assert produce("-p", "0", "-k", "k", "--tombstone")[1][:3] == (0, b"k", None)


def test_produce_what_consume_printed(cli, broker, ten):
    servers = broker.bootstrap_servers
    printed = cli("consume", ten, "-o", ":end", "--format", "json", servers=servers)
    documents = [json.loads(line) for line in printed.lines]
    assert [document["value"] for document in documents] == list("0123456789")
    again = broker.topic(f"{ten}-again")
    cli("produce", again, "--format", "json", servers=servers, stdin=printed.out.encode())
    assert [(r.key, r.value, r.headers, r.timestamp) for r in broker.records(again)] == [
        (r.key, r.value, r.headers, r.timestamp) for r in broker.records(ten)
    ]


def test_console_producer(cli, broker, topic_name):
    broker.topic(topic_name)
    properties = ("parse.key=true", "key.separator=:", "parse.headers=true", "null.marker=NULL")
    flags = [word for item in properties for word in ("--property", item)]
    ran = cli(
        *("kafka-console-producer", "--bootstrap-server", broker.bootstrap_servers),
        *("--topic", topic_name, *flags),
        stdin=b"a:1,b:2\tk1:v1\nc:3\tNULL:v2\nd:4\tk3:NULL\n",
    )
    assert ran.code == 0, ran.err
    found = [(r.key, r.value, list(r.headers)) for r in broker.records(topic_name)]
    assert found == [
        (b"k1", b"v1", [("a", b"1"), ("b", b"2")]),
        (None, b"v2", [("c", b"3")]),
        (b"k3", None, [("d", b"4")]),
    ]
    ran = cli(
        *("kafka-console-producer", "--broker-list", broker.bootstrap_servers),
        *("--topic", topic_name, "--reader-property", "parse.key=true"),
        stdin=b"no tab\n",
    )
    assert ran.code == 1
    assert "No key separator found on line number 1: 'no tab'" in ran.err
