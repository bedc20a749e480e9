"""Flush tickets."""

from barnabas.replication.isr import DurableEnd


def test_a_flush_moves_the_durable_end_and_never_back():
    durable = DurableEnd(0)
    early, late = durable.ticket(5), durable.ticket(9)
    durable.flushed(late)
    durable.flushed(early)
    assert durable.end_offset == 9


def test_a_truncation_voids_flushes_under_way():
    durable = DurableEnd(8)
    ticket = durable.ticket(10)
    durable.truncated(4)
    durable.flushed(ticket)
    assert durable.end_offset == 4
