"""Admission: listeners that wait for room, and connections that make room."""

from barnabas.net.admission import ConnectionAdmission, ConnectionSlots, SlotLimits


class FakeListener:
    def __init__(self, admission, name):
        self.admission, self.name = admission, name
        self.connections = []
        self.woken = 0
        admission.join(self)

    def accept_again(self):
        self.woken += 1

    def open(self, *, idle=True, last_active_ms=0):
        self.admission.opened(self, "10.0.0.1")
        connection = FakeConnection(self, idle, last_active_ms)
        self.connections.append(connection)
        return connection


class FakeConnection:
    def __init__(self, listener, idle, last_active_ms):
        self.listener, self.idle, self.last_active_ms = listener, idle, last_active_ms

    def close_with_reason(self, reason, detail):
        self.close()

    def close(self):
        self.listener.connections.remove(self)
        self.listener.admission.closed(self.listener, "10.0.0.1")


def listeners(protected=None, **limits):
    admission = ConnectionAdmission(ConnectionSlots(SlotLimits(**limits), protected))
    return admission, FakeListener(admission, "A"), FakeListener(admission, "B")


def test_a_waiting_listener_is_called_when_a_connection_of_any_other_ends():
    admission, a, b = listeners(total=1)
    only = a.open()
    assert not admission.has_room(b)
    admission.wait_for_room(b)
    admission.wait_for_room(b)
    assert b.woken == 0
    only.close()
    assert (a.woken, b.woken) == (0, 1)
    b.open().close()
    assert b.woken == 1  # it did not wait again


def test_a_listener_whose_own_limit_is_reached_goes_on_waiting():
    admission, a, b = listeners(total=2, of_listeners={"A": 1})
    first, second = a.open(), b.open()
    admission.wait_for_room(a)
    second.close()
    assert a.woken == 0
    first.close()
    assert a.woken == 1


def test_a_raised_limit_wakes_too():
    admission, a, _ = listeners(total=0)
    admission.wait_for_room(a)
    admission.limit(SlotLimits(total=1))
    assert a.woken == 1


def test_a_protected_listener_takes_from_the_others_the_idle_least_recently_used():
    admission, a, b = listeners("A", total=3)
    busy = b.open(idle=False, last_active_ms=1)
    old, new = b.open(last_active_ms=2), b.open(last_active_ms=3)
    admission.wait_for_room(b)
    assert admission.has_room(a)
    a.open()
    assert b.connections == [busy, new]
    a.open()
    assert b.connections == [busy]
    a.open()
    assert b.connections == []
    assert not admission.has_room(a)
    assert b.woken == 0
    assert old not in b.connections


def test_a_lowered_limit_closes_what_is_too_much_but_nothing_protected():
    admission, a, b = listeners("A")
    mine = [a.open() for _ in range(2)]
    for time_ms in range(5):
        b.open(last_active_ms=time_ms)
    admission.limit(SlotLimits(total=4))
    assert [c.last_active_ms for c in b.connections] == [3, 4]
    admission.limit(SlotLimits(total=1))
    assert (a.connections, b.connections) == (mine, [])
