"""The contract of `FileSystem`; run against the real one and the one in memory."""

import errno
from pathlib import Path

import pytest

from barnabas.storage.errors import LogDirLockedError
from barnabas.storage.filesystem import FileSystem, OsFileSystem
from barnabas.testing.memory_fs import MemoryFileSystem


@pytest.fixture(params=["os", "memory"])
def fs(request) -> FileSystem:
    return OsFileSystem() if request.param == "os" else MemoryFileSystem()


@pytest.fixture
def root(fs: FileSystem, tmp_path: Path) -> Path:
    fs.make_dirs(tmp_path)
    return tmp_path


def write(fs: FileSystem, path: Path, data: bytes) -> None:
    fs.open(path, create=True).pwrite(data, 0)


def test_written_bytes_are_read_back(fs, root):
    file = fs.open(root / "a", create=True)
    file.pwrite(b"hello world", 0)
    file.pwrite(memoryview(bytearray(b"WORLD")), 6)
    assert file.pread(11, 0) == b"hello WORLD"
    assert file.pread(5, 6) == b"WORLD"
    assert file.size() == fs.size(root / "a") == 11


def test_a_read_past_the_end_is_short(fs, root):
    file = fs.open(root / "a", create=True)
    file.pwrite(b"abc", 0)
    assert file.pread(10, 1) == b"bc"
    assert file.pread(10, 7) == b""


def test_a_write_past_the_end_leaves_zeros(fs, root):
    file = fs.open(root / "a", create=True)
    file.pwrite(b"x", 4)
    assert file.pread(9, 0) == b"\0\0\0\0x"


def test_truncate_cuts_and_extends(fs, root):
    file = fs.open(root / "a", create=True)
    file.pwrite(b"abcdef", 0)
    file.truncate(2)
    assert file.size() == 2
    file.truncate(4)
    assert file.pread(9, 0) == b"ab\0\0"


def test_open_without_create_needs_the_file(fs, root):
    with pytest.raises(FileNotFoundError):
        fs.open(root / "absent")
    with pytest.raises(FileNotFoundError):
        fs.open(root / "absent" / "a", create=True)


def test_open_does_not_empty_an_existing_file(fs, root):
    write(fs, root / "a", b"kept")
    assert fs.open(root / "a", create=True).pread(9, 0) == b"kept"


def test_names_are_listed_in_order(fs, root):
    for name in ("b", "a", "c"):
        write(fs, root / name, b"")
    fs.make_dirs(root / "d" / "e")
    assert fs.list_dir(root) == ["a", "b", "c", "d"]
    assert fs.is_dir(root / "d" / "e")
    assert not fs.is_dir(root / "a")
    assert not fs.is_dir(root / "absent")
    with pytest.raises(FileNotFoundError):
        fs.list_dir(root / "absent")


def test_making_a_directory_again_is_fine(fs, root):
    fs.make_dirs(root / "d")
    fs.make_dirs(root / "d")
    assert fs.list_dir(root / "d") == []


def test_a_directory_is_not_made_in_place_of_a_file(fs, root):
    write(fs, root / "f", b"kept")
    with pytest.raises(NotADirectoryError, match="Not a directory"):
        fs.make_dirs(root / "f")
    assert fs.list_dir(root) == ["f"]


def test_rename_replaces_and_open_files_stay_good(fs, root):
    write(fs, root / "old", b"old")
    write(fs, root / "new", b"new")
    held = fs.open(root / "old")
    fs.rename(root / "new", root / "old")
    assert fs.open(root / "old").pread(9, 0) == b"new"
    assert held.pread(9, 0) == b"old"
    assert not fs.exists(root / "new")
    with pytest.raises(FileNotFoundError):
        fs.rename(root / "new", root / "old")


def test_a_directory_is_renamed_with_its_files(fs, root):
    fs.make_dirs(root / "d")
    write(fs, root / "d" / "a", b"x")
    fs.rename(root / "d", root / "e")
    assert fs.open(root / "e" / "a").pread(9, 0) == b"x"


def test_a_removed_file_stays_readable_while_it_is_open(fs, root):
    write(fs, root / "a", b"data")
    held = fs.open(root / "a")
    fs.remove(root / "a")
    assert not fs.exists(root / "a")
    assert held.pread(9, 0) == b"data"
    with pytest.raises(FileNotFoundError):
        fs.remove(root / "a")


def test_only_empty_directories_are_removed(fs, root):
    fs.make_dirs(root / "d")
    write(fs, root / "d" / "a", b"")
    with pytest.raises(OSError, match="not empty") as caught:
        fs.remove_dir(root / "d")
    assert caught.value.errno == errno.ENOTEMPTY
    fs.remove(root / "d" / "a")
    fs.remove_dir(root / "d")
    assert not fs.exists(root / "d")


def test_a_lock_is_held_once(fs, root):
    held = fs.lock(root / ".lock")
    with pytest.raises(LogDirLockedError, match="in use by another broker"):
        fs.lock(root / ".lock")
    held.release()
    held.release()
    fs.lock(root / ".lock").release()


def test_syncing_and_usage(fs, root):
    write(fs, root / "a", b"x")
    fs.open(root / "a").sync()
    fs.sync_dir(root)
    usage = fs.usage(root)
    assert 0 < usage.free_bytes <= usage.total_bytes
    assert fs.modified_ms(root / "a") >= 0
