"""A name in, a greeting out: a topology in Python, tested by files like a case of SQL."""

from barnabas.streams import Stream, Topology


def topology() -> Topology:
    names = Stream("names", schema="name string")
    greetings = names.select(greeting="concat('Hello, ', name)")
    return Topology("hello", greetings.to("greetings"))
