"""Starting, stopping, starting again; what a broker says before it can be talked to properly."""

import asyncio
import signal
import socket
import struct
import subprocess
import sys

import pytest
from support.cluster.broker_app import until
from support.network.requests import batch, create_topic, fetch, fetch_request, metadata, produce

from barnabas.broker.topics import TopicSpec
from barnabas.model.errors import ConfigError
from barnabas.records.reader import decode_records
from barnabas.storage.errors import LogDirLockedError
from barnabas.wire.messages.api_versions import ApiVersionsRequest
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest

pytestmark = pytest.mark.integration


async def test_everything_survives_a_restart(start, connect):
    first = await start()
    peer = await connect(first)
    topic_id = await create_topic(peer, "t", 2, retention_ms="12345678")
    await produce(peer, "t", batch(b"a", b"b"), partition=1)
    producer_id = (await peer.call(InitProducerIdRequest(None, 1000), 4)).producer_id
    before = await metadata(peer, "t")
    await first.stop()

    second = await start()
    peer = await connect(second)
    after = await metadata(peer, "t")
    assert after.cluster_id == before.cluster_id
    assert after.brokers[0].node_id == before.brokers[0].node_id
    assert after.topics[0].topic_id == topic_id
    epochs = [[p.leader_epoch for p in m.topics[0].partitions] for m in (before, after)]
    assert epochs[1] >= epochs[0]
    answer = await fetch(peer, "t", 0, partition=1)
    assert [r.value for r in decode_records(answer.records, "t", 1).records] == [b"a", b"b"]
    assert (await produce(peer, "t", batch(b"c"), partition=1)).base_offset == 2
    assert second.services.layers.topic_value("t", "retention.ms") == 12345678
    again = (await peer.call(InitProducerIdRequest(None, 1000), 4)).producer_id
    assert again > producer_id


async def test_a_second_broker_on_the_same_directory_does_not_start(start):
    await start()
    with pytest.raises(LogDirLockedError):
        await start()


async def test_a_taken_port_is_an_error_and_leaves_nothing_behind(start, tmp_path):
    broker = await start()
    with pytest.raises(OSError, match="in use"):
        await start({"listeners": f"PLAINTEXT://127.0.0.1:{broker.port}"}, tmp_path / "other")
    await start(directory=tmp_path / "other")


async def test_another_cluster_id_is_rejected(start):
    with pytest.raises(ConfigError, match=r"cluster\.id"):
        await start({"cluster.id": "somebody-elses"})


async def test_a_parked_fetch_gets_its_response_when_the_broker_stops(start, connect):
    broker = await start()
    peer = await connect(broker)
    await create_topic(peer, "t")
    correlation = peer.send(fetch_request("t", 0, max_wait_ms=30_000), 11)
    await until(lambda: len(broker.services.fetch_purgatory) == 1)
    stopping = asyncio.create_task(broker.stop())
    response = await peer.receive(1, 11, correlation, timeout=60)
    assert response.responses[0].partitions[0].error_code == 0
    await asyncio.wait_for(stopping, 20)
    assert await peer.is_closed()


@pytest.mark.parametrize("setting", ["fsync.before.ack", "log.flush.interval.messages"])
async def test_with_flush_settings_an_acknowledged_record_is_flushed(start, connect, setting):
    broker = await start({setting: 1 if "interval" in setting else True})
    peer = await connect(broker)
    await create_topic(peer, "t")
    for number in range(5):
        assert (await produce(peer, "t", batch(b"a"))).base_offset == number
        log = next(iter(broker.services.logs))
        assert log.recovery_point == number + 1


async def test_a_topic_may_ask_for_its_own_flushes(start, connect):
    broker = await start()
    peer = await connect(broker)
    await create_topic(peer, "t", flush_messages="1")
    await produce(peer, "t", batch(b"a"))
    assert next(iter(broker.services.logs)).recovery_point == 1


# --- versions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(5))
async def test_every_api_versions_version(peer, version):
    response = await peer.call(ApiVersionsRequest("test-client", "1.0"), version)
    ranges = {item.api_key: (item.min_version, item.max_version) for item in response.api_keys}
    assert response.error_code == 0
    assert ranges[18] == (0, 4)
    assert ranges[0] == (0, 13)
    assert ranges[1] == (4, 18)


async def test_api_versions_that_is_too_new_is_answered_in_version_0(peer):
    body = struct.pack(">hhih", 18, 99, 7, -1) + b"whatever"
    peer.writer.write(struct.pack(">i", len(body)) + body)
    frame = await peer.receive_frame()
    assert struct.unpack(">ihihhh", frame) == (7, 35, 1, 18, 0, 4)
    assert (await peer.call(ApiVersionsRequest("test-client", "1.0"), 3)).error_code == 0


async def test_a_bad_software_name_is_an_invalid_request(peer):
    assert (await peer.call(ApiVersionsRequest("-bad-", "1.0"), 3)).error_code == 42


@pytest.mark.parametrize(("api_key", "version"), [(0, 2), (0, 99), (3, 99), (999, 0), (-1, 0)])
async def test_an_unsupported_version_closes(peer, caplog, api_key, version):
    body = struct.pack(">hhih", api_key, version, 1, -1)
    peer.writer.write(struct.pack(">i", len(body)) + body)
    assert await peer.is_closed()
    assert len([r for r in caplog.records if "reason=unsupported" in r.message]) == 1


# --- the command -------------------------------------------------------------------------------


def up(*options, **keywords):
    command = [sys.executable, "-m", "barnabas.cli.main", "up", "--port", "0", *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_up_listens_and_stops_on_a_signal(tmp_path, number, code):
    with up("--data-dir", tmp_path) as process:
        line = process.stdout.readline()
        assert line.startswith("listening on localhost:")
        with socket.create_connection(("localhost", int(line.rpartition(":")[2])), timeout=60):
            process.send_signal(number)
            assert process.wait(60) == code
    assert (tmp_path / ".kafka_cleanshutdown").exists()


def test_up_says_which_port_is_taken_and_what_to_do(tmp_path):
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        with up("--port", str(port), "--data-dir", tmp_path) as process:
            _, complaint = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"port {port} is in use" in complaint
    assert f"try port {port + 1}" in complaint
    assert "Traceback" not in complaint


@pytest.mark.parametrize("options", [["-X", "num.partition=1"], ["-X", "x"], ["--port", "70000"]])
def test_up_rejects_bad_options(tmp_path, options):
    with up("--data-dir", tmp_path, *options) as process:
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Traceback" not in complaint


async def test_files_are_for_the_brokers_user_alone(start, tmp_path):
    broker = await start()
    await broker.services.topics.create(TopicSpec("t", 1, 1))
    await until(lambda: (tmp_path / "data" / "t-0").exists())
    await broker.stop()
    found = {path: path.stat().st_mode & 0o777 for path in (tmp_path / "data").rglob("*")}
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    assert {mode for path, mode in found.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in found.items() if path.is_file()} == {0o600}
