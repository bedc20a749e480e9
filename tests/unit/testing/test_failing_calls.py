"""Planned faults of calls, without a file system around them."""

import errno
from pathlib import Path

import pytest

from barnabas.testing.memory_fs import FailingCalls, SimulatedCrash

LOG = Path("/data/a.log")


def test_a_process_dies_after_so_many_changes_and_stays_dead():
    calls = FailingCalls()
    calls.crash_after(1, torn=0.5)
    calls.enter("pread", LOG)
    calls.enter("pwrite", LOG)
    for call in ("pwrite", "pread"):
        with pytest.raises(SimulatedCrash):
            calls.enter(call, LOG)
    assert calls.calls == [("pwrite", "a.log")]
    assert calls.torn_size(10) == 5
    calls.begin_life()
    calls.enter("pwrite", LOG)
    with pytest.raises(SimulatedCrash):
        calls.check_alive(life=0)


def test_calls_fail_by_kind_and_name_or_by_count():
    calls = FailingCalls()
    calls.fail("sync", errno.EIO, name="a.log")
    calls.enter("sync", Path("/data/b.log"))
    with pytest.raises(OSError, match="Input/output error"):
        calls.enter("sync", LOG)
    calls.fail_after(1, errno.ENOSPC)
    calls.enter("sync", LOG)
    with pytest.raises(OSError, match="No space left"):
        calls.enter("rename", LOG)
    calls.fail("sync", errno.EIO, times=2)
    calls.heal()
    calls.enter("sync", LOG)
