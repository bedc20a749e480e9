"""Purgatory: may complete now, must complete by the deadline, completes once."""

import pytest

from barnabas.broker.purgatory import DelayedOperation, Purgatory


class Timers:
    def __init__(self):
        self.pending = []

    def schedule(self, delay_s, callback):
        timer = Timer(delay_s, callback)
        self.pending.append(timer)
        return timer

    def fire_all(self):
        for timer in self.pending:
            if not timer.cancelled:
                timer.callback()


class Timer:
    def __init__(self, delay_s, callback):
        self.delay_s, self.callback, self.cancelled = delay_s, callback, False

    def cancel(self):
        self.cancelled = True


class Op(DelayedOperation):
    def __init__(self):
        super().__init__()
        self.ready = False
        self.finished = []

    def try_complete(self, _changed):
        return self.ready

    def finish(self, *, expired):
        self.finished.append(expired)


@pytest.fixture
def timers():
    return Timers()


@pytest.fixture
def purgatory(timers):
    return Purgatory(timers.schedule)


def test_a_change_of_any_key_completes_once(purgatory, timers):
    op = Op()
    purgatory.watch(op, ["a", "b", "a"], 500)
    purgatory.check("a")
    assert op.finished == []
    op.ready = True
    purgatory.check("c")
    assert op.finished == []
    purgatory.check("b")
    purgatory.check("a")
    timers.fire_all()
    assert op.finished == [False]
    assert len(purgatory) == 0
    assert "a" not in purgatory.watched


def test_the_deadline_completes_what_nothing_else_did(purgatory, timers):
    op = Op()
    purgatory.watch(op, ["a"], 500)
    assert timers.pending[0].delay_s == 0.5
    timers.fire_all()
    op.ready = True
    purgatory.check("a")
    assert op.finished == [True]


def test_a_cancelled_operation_is_never_finished(purgatory, timers):
    op = Op()
    purgatory.watch(op, ["a"], 500)
    purgatory.cancel(op)
    op.ready = True
    purgatory.check("a")
    timers.fire_all()
    assert op.finished == []
    assert len(purgatory) == 0


def test_an_operation_finished_by_another_during_a_check_is_not_finished_again(purgatory):
    first, second = Op(), Op()
    purgatory.watch(first, ["a"], 500)
    purgatory.watch(second, ["a"], 500)
    first.ready = second.ready = True
    first.finish = lambda *, expired: purgatory.check("a")
    purgatory.check("a")
    assert second.finished == [False]


def test_shutdown_expires_all(purgatory):
    ops = [Op(), Op()]
    for op in ops:
        purgatory.watch(op, ["a", "b"], 500)
    purgatory.expire_all()
    assert [op.finished for op in ops] == [[True], [True]]
