from barnabas.streams.sql.engine.queries import Flow, feeding_order


def flow(query_id, reads, writes):
    return Flow(query_id, frozenset(reads.split()), writes)


def test_a_query_that_feeds_another_goes_first():
    """An INSERT INTO may be younger than the query that reads its target."""
    reader, writer = flow("reader", "merged", "out"), flow("insert", "more", "merged")
    assert feeding_order([reader, writer]) == ["insert", "reader"]
    assert feeding_order([flow("other", "x", "y"), reader, writer])[-1] == "reader"


def test_a_circle_keeps_the_order_of_definition():
    assert feeding_order([flow("a", "x", "y"), flow("b", "y", "x")]) == ["a", "b"]


def test_a_query_into_its_own_source():
    assert feeding_order([flow("a", "x", "x")]) == ["a"]
