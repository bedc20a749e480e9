"""Objects of imports are excluded from garbage collection, at first and after new imports."""

import os
import sys
from types import ModuleType

import pytest

from barnabas.spark import worker_memory


@pytest.fixture
def frozen(monkeypatch):
    """One entry per call of `gc.freeze`."""
    calls = []
    monkeypatch.setattr(worker_memory.gc, "freeze", lambda: calls.append(1))
    monkeypatch.setattr(worker_memory, "_frozen", [-1, 0, 0])
    return calls


def test_freezes_at_the_first_calls_and_after_new_imports(frozen, monkeypatch):
    for _ in range(worker_memory.TIMES + 5):
        worker_memory.freeze_imports()
    assert len(frozen) == worker_memory.TIMES
    monkeypatch.setitem(sys.modules, "something_new", ModuleType("something_new"))
    for _ in range(5):
        worker_memory.freeze_imports()
    assert len(frozen) == worker_memory.TIMES + 1


def test_a_forked_process_starts_from_zero(frozen, monkeypatch):
    for _ in range(worker_memory.TIMES + 5):
        worker_memory.freeze_imports()
    parent = os.getpid()
    monkeypatch.setattr(worker_memory.os, "getpid", lambda: parent + 1)
    for _ in range(worker_memory.TIMES + 5):
        worker_memory.freeze_imports()
    assert len(frozen) == 2 * worker_memory.TIMES
