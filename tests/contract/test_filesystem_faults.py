"""The faults of the file system in memory do what they claim."""

import errno
from pathlib import Path
from random import Random

import pytest

from barnabas.testing.memory_fs import MemoryFileSystem, SimulatedCrash

ROOT = Path("/d")


@pytest.fixture
def fs() -> MemoryFileSystem:
    fs = MemoryFileSystem(page_size=4)
    fs.make_dirs(ROOT)
    fs.sync_all()
    return fs


def test_a_killed_process_keeps_what_it_wrote(fs):
    file = fs.open(ROOT / "a", create=True)
    fs.crash_after(1, torn=0.5)
    file.pwrite(b"whole", 0)
    with pytest.raises(SimulatedCrash):
        file.pwrite(b"torn", 5)
    with pytest.raises(SimulatedCrash):
        fs.exists(ROOT / "a")
    fs.restart()
    assert fs.open(ROOT / "a").pread(99, 0) == b"wholeto"
    with pytest.raises(SimulatedCrash):
        file.pread(1, 0)


def test_a_power_loss_loses_unsynced_names(fs):
    fs.open(ROOT / "a", create=True).sync()
    fs.sync_dir(ROOT)
    fs.rename(ROOT / "a", ROOT / "b")
    seen = set()
    for seed in range(20):
        twin = fs.clone()
        twin.restart(power_loss=Random(seed))
        seen.add(tuple(twin.list_dir(ROOT)))
    assert seen == {("a",), ("b",)}


def test_a_power_loss_keeps_synced_bytes_and_some_pages(fs):
    file = fs.open(ROOT / "a", create=True)
    file.pwrite(b"1111", 0)
    file.sync()
    fs.sync_dir(ROOT)
    file.pwrite(b"22223333", 4)
    seen = set()
    for seed in range(200):
        twin = fs.clone()
        twin.restart(power_loss=Random(seed))
        data = twin.open(ROOT / "a").pread(99, 0)
        assert data.startswith(b"1111")
        seen.add(data)
    assert b"1111\0\0\0\x003333" in seen
    assert b"1111" in seen
    assert b"111122223333" in seen


def test_lack_of_space_cuts_a_write_short(fs):
    file = fs.open(ROOT / "a", create=True)
    fs.capacity_bytes = 6
    file.pwrite(b"1234", 0)
    with pytest.raises(OSError, match="space") as caught:
        file.pwrite(b"5678", 4)
    assert caught.value.errno == errno.ENOSPC
    assert file.pread(99, 0) == b"123456"
    file.truncate(4)
    file.pwrite(b"56", 4)


def test_failures_are_used_up(fs):
    file = fs.open(ROOT / "a", create=True)
    fs.fail("sync", errno.EIO, name="a")
    with pytest.raises(OSError, match="Input/output") as caught:
        file.sync()
    assert caught.value.errno == errno.EIO
    file.sync()
