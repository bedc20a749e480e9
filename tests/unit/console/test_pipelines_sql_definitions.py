"""The statements of `barnabas sql` as the console reads them."""

import json

from barnabas.console.services.pipelines import StatementReader


def document(statement, name=None, query=None, replaces=None):
    relation = None if name is None else {"name": name, "kind": "STREAM", "topic": name}
    found = {"statement": statement, "relation": relation, "query": query, "replaces": replaces}
    return json.dumps(found).encode()


QUERY = {"kind": "CSAS", "target": "big", "sources": ["orders"], "settings": {}}


def definitions(*records):
    reader = StatementReader()
    for offset, (key, value) in enumerate(records):
        reader.read(key, value, offset)
    return reader.definitions()


def test_streams_and_queries_are_listed():
    found = definitions(
        ("s-1", document("CREATE STREAM orders", "orders")),
        ("s-2", document("CREATE STREAM big AS", "big", QUERY)),
        ("home-s-2/d1", json.dumps({"home": "d1", "where": "host:/state"}).encode()),
    )
    assert [(item.name, item.kind) for item in found.relations] == [
        ("big", "stream"),
        ("orders", "stream"),
    ]
    (query,) = found.queries
    assert (query.query_id, query.sources, query.runs_at) == (
        "CSAS_BIG_1",
        ["orders"],
        "host:/state",
    )


def test_a_terminated_query_keeps_its_relation():
    found = definitions(
        ("s-1", document("CREATE STREAM big AS", "big", QUERY)), ("terminate-s-1", b"{}")
    )
    assert (len(found.relations), found.queries) == (1, [])


def test_a_statement_that_was_taken_back_is_gone():
    found = definitions(("s-1", document("CREATE", "orders")), ("s-1", None))
    assert found.relations == []


def test_the_first_definition_of_a_name_counts_unless_it_is_replaced():
    first, second = document("first", "orders"), document("second", "orders")
    replacing = document("third", "orders", replaces="s-1")
    assert definitions(("s-1", first), ("s-2", second)).relations[0].statement == "first"
    assert definitions(("s-1", first), ("s-3", replacing)).relations[0].statement == "third"


def test_records_of_other_programs_are_ignored():
    assert definitions(("s-1", b"no json"), ("other", b"{}")).relations == []
