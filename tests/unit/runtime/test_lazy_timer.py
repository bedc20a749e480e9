"""One timer for many deadlines: it fires at the earliest deadline and is rarely set again."""

from barnabas.runtime.lazy_timer import LazyTimer


class Handle:
    def __init__(self, when_s, callback):
        self.when_s = when_s
        self.fire = callback
        self.cancelled = False

    def when(self):
        return self.when_s

    def cancel(self):
        self.cancelled = True


class Loop:
    def __init__(self):
        self.handles = []

    def call_at(self, when_s, callback):
        self.handles.append(Handle(when_s, callback))
        return self.handles[-1]


def test_a_later_deadline_leaves_the_timer_as_it_is():
    loop = Loop()
    timer = LazyTimer(loop, lambda: None)
    timer.set(10.0)
    timer.set(20.0)
    assert [handle.when_s for handle in loop.handles] == [10.0]


def test_an_earlier_deadline_takes_its_place():
    loop = Loop()
    timer = LazyTimer(loop, lambda: None)
    timer.set(20.0)
    timer.set(10.0)
    assert [(handle.when_s, handle.cancelled) for handle in loop.handles] == [
        (20.0, True),
        (10.0, False),
    ]


def test_the_callback_may_set_it_again():
    loop, fired = Loop(), []

    def fire():
        fired.append(True)
        timer.set(30.0)

    timer = LazyTimer(loop, fire)
    timer.set(10.0)
    loop.handles[0].fire()
    assert fired == [True]
    assert [handle.when_s for handle in loop.handles] == [10.0, 30.0]


def test_a_cancelled_timer_can_be_set_again():
    loop = Loop()
    timer = LazyTimer(loop, lambda: None)
    timer.set(10.0)
    timer.cancel()
    timer.set(20.0)
    assert [handle.cancelled for handle in loop.handles] == [True, False]
