"""ConnectionSlots: limits of connections, in total and per address."""

from barnabas.net.admission import ConnectionSlots, SlotLimits


def slots(protected=None, taken=(), **limits):
    made = ConnectionSlots(SlotLimits(**limits), protected)
    for listener in taken:
        made.take(listener, "10.0.0.1")
    return made


def test_without_limits_there_is_always_room():
    free = slots(taken=["A"] * 1000)
    assert free.has_room("A")
    assert free.has_slot_for("10.0.0.1")
    assert free.surplus == 0


def test_the_limit_in_all_is_for_all_listeners_together():
    full = slots(total=2, taken=["A", "B"])
    assert not full.has_room("A")
    assert not full.has_room("C")
    full.give_back("B", "10.0.0.1")
    assert full.has_room("A")
    assert full.surplus == 0


def test_a_listener_has_its_own_limit_besides():
    some = slots(total=3, of_listeners={"A": 1}, taken=["A"])
    assert not some.has_room("A")
    assert some.has_room("B")


def test_a_protected_listener_goes_over_the_limit_in_all_but_not_over_its_own():
    full = slots("A", total=2, of_listeners={"A": 2}, taken=["B", "B", "A"])
    assert full.surplus == 1
    assert full.has_room("A")
    full.take("A", "10.0.0.1")
    assert not full.has_room("A")


def test_alone_a_protected_listener_has_the_limit_of_all():
    full = slots("A", total=2, taken=["A", "A"])
    assert not full.has_room("A")


def test_a_lowered_limit_leaves_a_surplus():
    some = slots(taken=["A", "A", "B"])
    some.limits = SlotLimits(total=1)
    assert some.surplus == 2


def test_addresses_are_counted_over_all_listeners():
    some = slots(per_ip=2, of_ips={"10.0.0.9": 0, "10.0.0.8": 3}, taken=["A", "B"])
    assert not some.has_slot_for("10.0.0.1")
    assert some.has_slot_for("10.0.0.2")
    assert not some.has_slot_for("10.0.0.9")
    some.give_back("B", "10.0.0.1")
    assert some.has_slot_for("10.0.0.1")
    for _ in range(3):
        assert some.has_slot_for("10.0.0.8")
        some.take("A", "10.0.0.8")
    assert not some.has_slot_for("10.0.0.8")
