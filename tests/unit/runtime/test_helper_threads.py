"""Helper threads: tasks run beside the caller; nothing fails when there are none."""

import os
import threading

import pytest

from barnabas.runtime import helper_threads
from barnabas.runtime.helper_threads import helper_count, start_helpers


def test_tasks_run_at_the_same_time():
    barrier = threading.Barrier(4)
    start_helpers(lambda: barrier.wait(10), 3)
    barrier.wait(10)
    names = {thread.name for thread in threading.enumerate()}
    assert {f"barnabas-helper_{number}" for number in range(3)} <= names


def test_an_error_of_a_task_does_not_end_its_thread():
    done = threading.Event()
    for task in (lambda: 1 / 0, done.set):
        start_helpers(task, 1)
    assert done.wait(10)


@pytest.mark.parametrize(("processors", "count"), [(1, 0), (2, 1), (5, 4), (64, 4)])
def test_one_helper_less_than_processors(processors, count, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(processors)), raising=False)
    assert helper_count() == count
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert helper_count() == count


def test_no_thread_can_be_started(monkeypatch):
    class Exiting:
        def submit(self, _task):
            raise RuntimeError("cannot schedule new futures after interpreter shutdown")

    monkeypatch.setattr(helper_threads, "_executor", Exiting())
    monkeypatch.setattr(helper_threads, "_executor_process", os.getpid())
    start_helpers(lambda: pytest.fail("must not run"), 2)
