"""The limit of open segment files, with and without real descriptors."""

from pathlib import Path

from support.storage.log_world import NOW, TOPIC_ID, contents, put

from barnabas.model.ids import TopicPartition
from barnabas.storage import LogConfig, LogManager, OsFileSystem
from barnabas.storage.filesystem import OpenFiles
from barnabas.testing.virtual_clock import VirtualClock

LIMIT = 3


class FakeSegment:
    def __init__(self, files: OpenFiles) -> None:
        self.used = False
        self.is_open = True
        self._files = files
        files.opened(self)

    def release(self) -> None:
        self.is_open = False
        self._files.closed(self)


def test_the_oldest_file_is_closed_beyond_the_limit():
    files = OpenFiles(2)
    first, second, third = (FakeSegment(files) for _ in range(3))
    assert [first.is_open, second.is_open, third.is_open] == [False, True, True]


def test_a_file_that_was_used_stays_open_for_another_round():
    files = OpenFiles(2)
    first, second = FakeSegment(files), FakeSegment(files)
    first.used = True
    FakeSegment(files)
    assert (first.is_open, second.is_open) == (True, False)
    third = FakeSegment(files)
    FakeSegment(files)
    assert (first.is_open, third.is_open) == (False, True)


def test_the_newest_file_stays_open_when_all_others_are_in_use():
    files = OpenFiles(1)
    first = FakeSegment(files)
    first.used = True
    second = FakeSegment(files)
    assert (first.is_open, second.is_open, len(files)) == (False, True, 1)


def test_a_closed_file_no_longer_counts():
    files = OpenFiles(1)
    FakeSegment(files).release()
    assert len(files) == 0
    assert FakeSegment(files).is_open


def test_partitions_beyond_the_limit_hold_no_descriptors(tmp_path):
    manager = _started(tmp_path)
    before = _log_files(tmp_path)
    logs = [_create(manager, number) for number in range(4 * LIMIT)]
    for turn in range(2):
        for number, log in enumerate(logs):
            put(log, (b"k", b"%d" % number), timestamp_ms=NOW + turn)
            log.update_high_watermark(turn + 1)
    assert [len(contents(log)) for log in logs] == [2] * len(logs)
    assert _log_files(tmp_path) - before <= LIMIT
    manager.shutdown()
    again = _started(tmp_path)
    assert {log.log_end_offset for log in again} == {2}
    assert _log_files(tmp_path) - before <= LIMIT
    again.shutdown()


def _started(directory: Path) -> LogManager:
    manager = LogManager(OsFileSystem(), [directory], VirtualClock())
    manager.open_files.limit = LIMIT
    manager.start()
    return manager


def _create(manager: LogManager, number: int):
    return manager.get_or_create(TopicPartition("t", number), TOPIC_ID, LogConfig.from_values())


def _log_files(directory: Path) -> int:
    targets = [link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return sum(path.suffix == ".log" and directory in path.parents for path in targets)
