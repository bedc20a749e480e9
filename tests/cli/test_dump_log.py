"""dump-log on files of our broker; the lines are those that Apache's own tool prints."""

import json

import pytest

from barnabas import Producer
from barnabas.testing import Broker

pytestmark = pytest.mark.integration
START_MS = 1_700_000_000_000


@pytest.fixture(scope="module")
def log_dir(tmp_path_factory):
    """A stopped broker's directory: a topic with a commit and an abort."""
    directory = tmp_path_factory.mktemp("log-dir")
    kept = {"log.retention.ms": -1, "log.roll.ms": 10**13, "log.index.interval.bytes": 50}
    with Broker(kept, data_dir=directory) as broker:
        settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "tx"}
        with Producer(settings) as producer:
            producer.init_transactions()
            for value, commit in ((b"a", True), (b"b", False)):
                producer.begin_transaction()
                producer.send("tx", value, b"k", [("h", b"1")], timestamp=START_MS)
                producer.flush()
                producer.commit_transaction() if commit else producer.abort_transaction()
        broker.admin.alter_group_offsets("g", {("tx", 0): 1}).check()
    return directory


def test_everything_of_a_partition_as_json(cli, log_dir):
    ran = cli("dump-log", log_dir / "tx-0", "--records", "--format", "json")
    assert ran.code == 0, ran.err
    entries = [json.loads(line) for line in ran.lines]
    kinds = {entry["type"] for entry in entries}
    assert {"batch", "index", "timeindex", "txnindex", "producer", "checkpoint"} <= kinds
    batches = [entry for entry in entries if entry["type"] == "batch"]
    assert [b["base_offset"] for b in batches] == [0, 1, 2, 3]
    assert [b["control"] for b in batches] == [False, True, False, True]
    assert all(b["valid"] and b["transactional"] for b in batches)
    first = batches[0]["records"][0]
    assert (first["key"], first["value"], first["timestamp"]) == ("k", "a", START_MS)
    assert [b["records"][0]["key"] for b in batches if b["control"]] == ["COMMIT", "ABORT"]
    (aborted,) = [entry for entry in entries if entry["type"] == "txnindex"]
    assert (aborted["first_offset"], aborted["last_offset"]) == (2, 3)


def test_tables(cli, log_dir):
    ran = cli("dump-log", log_dir / "tx-0", "--records")
    assert "BASE-OFFSET" in ran.out
    assert f"  | 0  {START_MS}  k  a" in ran.lines
    ran = cli("dump-log", log_dir / "recovery-point-offset-checkpoint", "--format", "tsv")
    assert "tx\t0\t4" in ran.lines


def test_apache_lines(cli, log_dir):
    segment = log_dir / "tx-0" / ("0" * 20 + ".log")
    ran = cli("kafka-dump-log", "--files", segment, "--print-data-log")
    lines = ran.lines
    assert lines[:2] == [f"Dumping {segment}", "Log starting offset: 0"]
    assert lines[2].startswith(
        "baseOffset: 0 lastOffset: 0 count: 1 baseSequence: 0 lastSequence: 0 producerId: 0 "
        "producerEpoch: 0 partitionLeaderEpoch: 0 isTransactional: true isControl: false "
        f"deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: {START_MS} size: 74 "
        "magic: 2 compresscodec: none crc: "
    )
    assert lines[2].endswith(" isvalid: true")
    assert lines[3] == (
        f"| offset: 0 CreateTime: {START_MS} keySize: 1 valueSize: 1 sequence: 0 "
        "headerKeys: [h] key: k payload: a"
    )
    assert lines[5].endswith("endTxnMarker: COMMIT coordinatorEpoch: 0")
    index = segment.with_suffix(".txnindex")
    ran = cli("kafka-dump-log", "--files", index)
    assert ran.lines[1] == (
        "version: 0 producerId: 0 firstOffset: 2 lastOffset: 3 lastStableOffset: 4"
    )


@pytest.mark.parametrize(
    ("topic", "flag", "text"),
    [
        ("__consumer_offsets-0", "--offsets-decoder", '"group":"g","topic":"tx","partition":0'),
        ("__transaction_state-0", "--transaction-log-decoder", '{"transactionalId":"tx"}'),
    ],
)
def test_coordinators_records(cli, log_dir, topic, flag, text):
    segment = log_dir / topic / ("0" * 20 + ".log")
    ran = cli("kafka-dump-log", "--files", segment, flag)
    assert ran.code == 0
    assert text in ran.out


def test_damage_is_found(cli, log_dir, tmp_path):
    data = bytearray((log_dir / "tx-0" / ("0" * 20 + ".log")).read_bytes())
    damaged = tmp_path / ("0" * 20 + ".log")
    data[70] ^= 1
    damaged.write_bytes(data)
    ran = cli("dump-log", damaged, "--format", "json")
    assert ran.code == 3
    assert [json.loads(line)["valid"] for line in ran.lines] == [False, True, True, True]
    damaged.write_bytes(data + b"torn")
    ran = cli("kafka-dump-log", "--files", damaged)
    assert ran.code == 3
    assert f"Found 4 invalid bytes at the end of {damaged.name}" in ran.out


def test_files_that_are_no_logs(cli, tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    ran = cli("dump-log", tmp_path / "notes.txt")
    assert (ran.code, ran.out) == (1, "")
    assert "not a file of a log directory" in ran.err
    ran = cli("dump-log", tmp_path / ("0" * 20 + ".log"))
    assert "file does not exist" in ran.err


def damaged(log_dir, tmp_path, suffix, change):
    """A copy of the partition whose index was changed."""
    name = "0" * 20
    for ending in (".log", ".index", ".timeindex"):
        (tmp_path / f"{name}{ending}").write_bytes(
            (log_dir / "tx-0" / f"{name}{ending}").read_bytes()
        )
    path = tmp_path / f"{name}{suffix}"
    path.write_bytes(change(path.read_bytes()))
    return path


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_a_sound_index(cli, log_dir, suffix):
    path = log_dir / "tx-0" / ("0" * 20 + suffix)
    ran = cli("kafka-dump-log", "--files", path, "--index-sanity-check")
    assert (ran.code, ran.lines) == (0, [f"Dumping {path}", f"{path} passed sanity check."])
    ran = cli("kafka-dump-log", "--files", path, "--verify-index-only")
    assert (ran.code, ran.lines) == (0, [f"Dumping {path}"])
    assert len(cli("kafka-dump-log", "--files", path).lines) > 1


def test_an_index_of_an_odd_size(cli, log_dir, tmp_path):
    path = damaged(log_dir, tmp_path, ".index", lambda data: data + b"x")
    ran = cli("kafka-dump-log", "--files", path, "--index-sanity-check")
    assert ran.code == 3
    assert "is not a multiple of 8" in ran.out


def test_an_index_out_of_order(cli, log_dir, tmp_path):
    path = damaged(log_dir, tmp_path, ".timeindex", lambda data: data + bytes(8) + data[-4:])
    ran = cli("kafka-dump-log", "--files", path, "--index-sanity-check")
    assert ran.code == 3
    assert "out of order" in ran.out


def test_an_index_that_the_segment_contradicts(cli, log_dir, tmp_path):
    def moved(data):
        return data[:3] + bytes([data[3] + 7]) + data[4:]

    path = damaged(log_dir, tmp_path, ".index", moved)
    ran = cli("kafka-dump-log", "--files", path, "--verify-index-only")
    assert ran.code == 3
    assert ran.lines[1] == f"Mismatches in :{path}"
    assert ran.lines[2].startswith("  Index offset: ")


def test_decoders(cli, log_dir):
    tool = ("kafka-dump-log", "--files", log_dir / "tx-0" / ("0" * 20 + ".log"), "--print-data-log")
    ran = cli(*tool, "--value-decoder-class", "org.apache.kafka.tools.api.StringDecoder")
    assert ran.code == 0, ran.err
    assert cli(*tool, "--key-decoder-class", "com.example.Odd").code == 1
    assert cli(*tool, "--value-decoder-class", "kafka.serializer.LongDecoder").code == 1
    ran = cli(*tool, "--max-message-size", "1")
    assert (ran.code, "--max-message-size has no effect" in ran.err) == (0, True)


def test_without_metadata(cli, log_dir):
    tool = ("kafka-dump-log", "--files", log_dir / "tx-0" / ("0" * 20 + ".log"), "--print-data-log")
    lines = cli(*tool, "--skip-record-metadata").lines
    assert lines[3] == " key: k payload: a"
    assert lines[5] == ""
