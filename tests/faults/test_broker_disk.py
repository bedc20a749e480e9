"""A disk that is full, or broken, under a running broker."""

import asyncio
import errno
import json
import urllib.request

import pytest
from support.network.requests import batch, create_topic, fetch, produce
from support.storage.bad_disk import BadFileSystem, Disk
from support.wire.peer import WirePeer

from barnabas.broker.app import Broker
from barnabas.broker.config import BrokerConfig
from barnabas.model.error_codes import ErrorCode
from barnabas.records.reader import decode_records

pytestmark = pytest.mark.faults


@pytest.fixture
def disk():
    return Disk()


@pytest.fixture
async def broker(tmp_path, disk):
    settings = {
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": f"{tmp_path}/one,{tmp_path}/two",
        "http.listener": "0",
    }
    running = Broker(BrokerConfig.parse(settings), filesystem=BadFileSystem(disk))
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def peer(broker):
    connected = await WirePeer.connect(broker.port)
    yield connected
    await connected.close()


async def get_json(broker, path):
    def get():
        with urllib.request.urlopen(broker.http_url + path, timeout=60) as reply:
            return json.load(reply)

    return await asyncio.to_thread(get)


async def read(peer, topic, partition=0):
    answer = await fetch(peer, topic, 0, partition=partition)
    assert answer.error_code == 0
    return [record.value for record in decode_records(answer.records, topic, 0).records]


async def test_a_full_disk_fails_the_produce_and_nothing_else(broker, peer, disk, caplog):
    await create_topic(peer, "t")
    assert (await produce(peer, "t", batch(b"before"))).base_offset == 0
    disk.error = errno.ENOSPC
    for _ in range(3):
        refused = await produce(peer, "t", batch(b"lost"))
        assert ErrorCode(refused.error_code) is ErrorCode.KAFKA_STORAGE_ERROR
    assert await read(peer, "t") == [b"before"]
    disk.error = None
    assert (await produce(peer, "t", batch(b"after"))).base_offset == 1
    assert await read(peer, "t") == [b"before", b"after"]
    told = [record.getMessage() for record in caplog.records if "writes" in record.getMessage()]
    assert ["writes fail" in line for line in told] == [True, False]
    assert sum(d.health.failed_writes for d in broker.services.logs.dirs) == 3
    assert [d.health.disk_full for d in broker.services.logs.dirs] == [0, 0]


async def test_a_full_disk_is_a_warning_of_a_ready_broker(broker, peer, disk):
    await create_topic(peer, "t")
    disk.error = errno.ENOSPC
    await produce(peer, "t", batch(b"lost"))
    (warning,) = (await get_json(broker, "/readyz"))["warnings"]
    assert warning.startswith("log directory ")
    assert warning.endswith(": writes fail: the disk is full")
    assert (await get_json(broker, "/status"))["warnings"] == [warning]
    disk.error = None
    await produce(peer, "t", batch(b"after"))
    expected = {"ready": True, "problems": [], "warnings": []}
    assert await get_json(broker, "/readyz") == expected


async def test_an_offline_directory_is_a_warning(broker, peer, disk):
    await create_topic(peer, "t")
    disk.error = errno.EIO
    disk.below = f"/{broker.services.logs.get(('t', 0)).directory.parent.name}/"
    await produce(peer, "t", batch(b"lost"))
    (warning,) = (await get_json(broker, "/status"))["warnings"]
    assert " is offline: " in warning


async def test_a_broken_directory_goes_offline_alone(broker, peer, disk):
    await create_topic(peer, "t", 2)
    homes = {
        partition: broker.services.logs.get(("t", partition)).directory.parent.name
        for partition in (0, 1)
    }
    assert set(homes.values()) == {"one", "two"}
    broken = next(partition for partition, home in homes.items() if home == "one")
    disk.below, disk.error = "/one/", errno.EIO
    refused = await produce(peer, "t", batch(b"lost"), partition=broken)
    assert ErrorCode(refused.error_code) is ErrorCode.KAFKA_STORAGE_ERROR
    disk.error = None
    still = await produce(peer, "t", batch(b"lost"), partition=broken)
    assert still.error_code != 0
    assert (await produce(peer, "t", batch(b"kept"), partition=1 - broken)).base_offset == 0
    assert await read(peer, "t", 1 - broken) == [b"kept"]
    assert not broker.failed.is_set()


async def test_without_any_directory_the_broker_gives_up(broker, peer, disk):
    await create_topic(peer, "t", 2)
    disk.error = errno.EIO
    for partition in (0, 1):
        await produce(peer, "t", batch(b"lost"), partition=partition)
    assert broker.failed.is_set()
