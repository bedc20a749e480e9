"""Dump, restore and copy lose nothing; a copy on a terminal shows its progress."""

import os
import pty
import re
import select
import subprocess
import sys

import pytest

from barnabas import Producer
from barnabas.testing import Broker

pytestmark = pytest.mark.integration

RECORDS = [
    # value, key, headers, partition, timestamp
    (b"plain", b"k1", [("h", b"1")], 0, 1_700_000_000_000),
    (None, b"tombstone", [], 1, 1_700_000_000_001),
    (b"", None, [], 0, 1_700_000_000_002),
    (b"no key", None, [("a", b"1"), ("a", None), ("b", b"")], 2, 1_700_000_000_003),
    (bytes(range(256)), b"\xff\xfe\x00", [("bin", b"\x80\x81")], 1, 0),
    ("snow ❄ \u2028".encode(), "ключ".encode(), [("ж", "я".encode())], 2, 1_700_000_000_005),
    (b'{"json": "\\n"}\n', b"line\nbreak", [], 0, 1_700_000_000_006),
]


@pytest.fixture(scope="module")
def other():
    with Broker() as running:
        yield running


@pytest.fixture
def source(broker, topic_name):
    broker.topic(topic_name, partitions=3, config={"retention.ms": -1})
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for value, key, headers, partition, timestamp in RECORDS:
            producer.send(topic_name, value, key, headers, partition, timestamp)
    return topic_name


def content(server, topic):
    return [
        (r.partition, r.offset, r.timestamp, r.key, r.value, list(r.headers))
        for r in server.records(topic)
    ]


@pytest.mark.parametrize("suffix", ["ndjson", "ndjson.gz"])
def test_dump_and_restore_are_lossless(cli, broker, source, tmp_path, suffix):
    path = tmp_path / f"dump.{suffix}"
    servers = broker.bootstrap_servers
    ran = cli("topics", "dump", source, "--output", path, servers=servers)
    assert ran.code == 0, ran.err
    assert f"dumped {len(RECORDS)} records" in ran.err

    ran = cli("topics", "restore", f"{source}-again", "--input", path, servers=servers)
    assert ran.code == 0, ran.err
    assert content(broker, f"{source}-again") == content(broker, source)
    (described,) = broker.admin.describe_topics([f"{source}-again"]).check().values()
    assert len(described.partitions) == 3


def test_dump_to_a_pipe_and_restore_from_it(cli, broker, source, other):
    dumped = cli("topics", "dump", source, servers=broker.bootstrap_servers)
    ran = cli("topics", "restore", servers=other.bootstrap_servers, stdin=dumped.out.encode())
    assert ran.code == 0, ran.err
    assert content(other, source) == content(broker, source)


def test_copy_to_another_cluster_with_progress_on_a_terminal(broker, source, other, tmp_path):
    """Run as a person would, on a terminal: the bar is seen, and the data is the same."""
    command = [sys.executable, "-m", "barnabas.cli.main", "topics", "copy", source, "copied"]
    command += ["-b", broker.bootstrap_servers]
    command += ["--to-bootstrap-server", other.bootstrap_servers]
    shown, code = run_on_terminal(command, {**os.environ, "HOME": str(tmp_path)})
    assert code == 0, shown
    assert re.search(r"copying +\[#{20}\] 100%  7/7  [\d,]+/s  ETA 0:00", shown), shown
    assert re.search(r"copied +7 +OK", shown)
    assert content(other, "copied") == content(broker, source)


def test_no_progress_without_a_terminal(cli, broker, source):
    ran = cli("topics", "copy", source, f"{source}-2", servers=broker.bootstrap_servers)
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[1].split() == [source, f"{source}-2", str(len(RECORDS)), "OK"]


def test_copy_of_a_part(cli, broker, source):
    """Filters and ranges choose; dry runs change nothing."""
    servers = broker.bootstrap_servers
    target = f"{source}-part"
    ran = cli("topics", "copy", source, target, "--dry-run", servers=servers)
    assert ran.lines[1].split() == [source, target, "7", "PLANNED"]
    assert target not in [t.name for t in broker.admin.list_topics()]
    cli("topics", "copy", f"{source}:0", target, "--filter-value", "plain", servers=servers)
    assert [r.value for r in broker.records(target)] == [b"plain"]


def test_copy_onto_itself_is_rejected(cli, broker, source):
    ran = cli("topics", "copy", source, source, servers=broker.bootstrap_servers)
    assert (ran.code, ran.out) == (2, "")
    assert "same topic" in ran.err


def test_restore_of_what_is_no_dump(cli, broker, topic_name):
    ran = cli(
        "topics", "restore", topic_name, servers=broker.bootstrap_servers, stdin=b"not json\n"
    )
    assert ran.code == 1
    assert "line 1 is not JSON" in ran.err


def run_on_terminal(command, environment):
    """Output and exit code of a command whose streams are a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=environment, close_fds=True
    )
    os.close(follower)
    shown = b""
    while select.select([leader], [], [], 60)[0]:
        try:
            piece = os.read(leader, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(leader)
    return shown.decode(), process.wait(60)
