import pytest
from support.pipelines.sql_relations import relations

from barnabas.streams.sql.catalog import (
    Catalog,
    CheckpointLocation,
    Definition,
    claimed,
    terminated,
)
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement
from barnabas.streams.sql.language.statements import KeyRole, WindowClause, WindowKind
from barnabas.streams.sql.properties import declared, new_topic_settings
from barnabas.streams.sql.relations import Format, relation_of

KNOWN = relations().by_name


def define(catalog, key, relation, offset, **more):
    catalog.apply(key, Definition("text of " + key, relation, **more).encode(), offset)


def query(catalog, key, offset, target="pageviews", sources=("users",), relation=None):
    definition = Definition("q", relation, "CSAS", target, sources, {"auto.offset.reset": "latest"})
    catalog.apply(key, definition.encode(), offset)


def test_a_relation_survives_its_document():
    for relation in KNOWN.values():
        assert relation_of(relation.as_document()) == relation


def test_a_window_survives_too():
    from dataclasses import replace

    relation = replace(KNOWN["users"], window=WindowClause(WindowKind.HOPPING, 10, 5, None))
    assert relation_of(relation.as_document()) == relation


def test_definitions_and_their_end():
    catalog = Catalog()
    define(catalog, "s-1", KNOWN["users"], 0)
    assert catalog.relation("USERS").topic == "users"
    assert catalog.statement_of("Users") == "text of s-1"
    catalog.apply("s-1", None, 1)
    assert catalog.find("users") is None
    with pytest.raises(SqlError, match="no stream or table 'users'"):
        catalog.relation("users")


def test_the_first_of_two_definitions_counts():
    catalog = Catalog()
    define(catalog, "s-1", KNOWN["users"], 0)
    define(catalog, "s-2", KNOWN["users"], 1)
    assert catalog.is_in_effect("s-1")
    assert not catalog.is_in_effect("s-2")
    catalog.apply("s-2", None, 2)
    assert catalog.owner("users") == "s-1"


def test_a_replacement_counts():
    catalog = Catalog()
    define(catalog, "s-1", KNOWN["users"], 0)
    define(catalog, "s-2", KNOWN["users"], 1, replaces="s-1")
    catalog.apply("s-1", None, 2)
    assert catalog.owner("users") == "s-2"


def test_compaction_changes_nothing():
    """Only the last record of each key is left, in the old order."""
    catalog = Catalog()
    define(catalog, "s-2", KNOWN["users"], 1, replaces="s-1")
    catalog.apply("s-1", None, 2)
    assert catalog.owner("users") == "s-2"


def test_queries_have_the_offset_of_their_statement_as_id():
    catalog = Catalog()
    query(catalog, "s-1", 7)
    assert [q.query_id for q in catalog.queries] == ["CSAS_PAGEVIEWS_7"]
    assert catalog.query("csas_pageviews_7") is not None
    assert catalog.readers("Users")
    assert catalog.writers("PAGEVIEWS")


def test_a_terminated_query_keeps_its_relation():
    catalog = Catalog()
    query(catalog, "s-1", 0, relation=KNOWN["pageviews"])
    catalog.apply(*terminated("s-1"), 1)
    assert catalog.queries == []
    assert catalog.find("pageviews") is not None
    catalog.apply("s-1", None, 2)
    assert catalog.find("pageviews") is None


def test_the_order_of_termination_and_statement_does_not_matter():
    catalog = Catalog()
    catalog.apply(*terminated("s-1"), 0)
    query(catalog, "s-1", 1)
    assert catalog.queries == []


def made(text):
    return declared(parse_statement(text))


def test_a_declared_stream_has_its_properties():
    relation = made(
        """CREATE STREAM s (a VARCHAR KEY, t VARCHAR)
           WITH (kafka_topic='x', value_format='delimited',
           value_delimiter='TAB', timestamp='T', timestamp_format='yyyy')"""
    )
    assert relation.topic == "x"
    assert relation.value_format is Format.DELIMITED
    assert relation.delimiter == "\t"
    assert relation.timestamp == "T"
    assert [column.name for column in relation.value_columns] == ["t"]


def test_the_key_property_of_older_ksql():
    relation = made("CREATE TABLE t (id VARCHAR, n INT) WITH (kafka_topic='t', key='ID')")
    assert relation.keys_in_value
    assert relation.key_columns[0].role is KeyRole.PRIMARY
    assert [column.name for column in relation.value_columns] == ["id", "n"]


def test_the_topic_defaults_to_the_name():
    assert made("CREATE STREAM s (a INT)").topic == "s"


def test_settings_of_new_topics():
    statement = parse_statement("CREATE STREAM s (a INT) WITH (partitions=3, replicas=2)")
    new_topic = new_topic_settings(statement.properties)
    assert (new_topic.partitions, new_topic.replicas) == (3, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE STREAM s (a INT) WITH (kafka_tpic='x')", "did you mean 'kafka_topic'"),
        ("CREATE STREAM s (a INT) WITH (value_format='protobuf')", "use JSON or AVRO"),
        ("CREATE STREAM s (a INT) WITH (value_format='xml')", "no format 'xml'"),
        ("CREATE STREAM s WITH (kafka_topic='x')", "the columns are missing"),
        ("CREATE TABLE t (a INT) WITH (kafka_topic='x')", "needs a key"),
        ("CREATE TABLE t (a INT KEY)", "PRIMARY KEY"),
        ("CREATE STREAM s (a INT PRIMARY KEY)", "write KEY"),
        ("CREATE STREAM s (a INT, A VARCHAR)", "two columns have the name"),
        ("CREATE STREAM s (rowtime BIGINT)", "is reserved"),
        ("CREATE STREAM s (a INT) WITH (timestamp='b')", "timestamp: no column 'b'"),
        ("CREATE STREAM s (a INT) WITH (timestamp_format='yyyy')", "needs timestamp"),
        ("CREATE STREAM s (a INT, b INT) WITH (value_format='KAFKA')", "holds one column"),
        ("CREATE STREAM s (a INT KEY, b INT KEY, c INT)", "key_format='JSON'"),
        ("CREATE STREAM s (a INT) WITH (key='b')", "key: no column 'b'"),
        ("CREATE STREAM s (a INT KEY, b INT) WITH (key='b')", "given twice"),
        ("CREATE STREAM s (a INT) WITH (value_delimiter='ab')", "one character"),
    ],
)
def test_contradicting_properties_are_rejected(text, reason):
    with pytest.raises(SqlError, match=reason.replace("(", r"\(")):
        made(text)


def test_a_number_of_partitions_is_a_number():
    with pytest.raises(SqlError, match="above 0"):
        new_topic_settings({"partitions": "0"})


HERE, THERE = CheckpointLocation("d1", "one:/state"), CheckpointLocation("d2", "two:/state")


def claim(catalog, location, offset, statement="s-1"):
    catalog.apply(*claimed(statement, location), offset)


def test_the_first_claim_to_a_query_counts():
    catalog = Catalog()
    query(catalog, "s-1", 0)
    assert catalog.location("s-1") is None
    claim(catalog, HERE, 1)
    claim(catalog, THERE, 2)
    assert catalog.location("s-1") == HERE
    claim(catalog, THERE, 3, statement="s-2")
    assert catalog.location("s-2") == THERE


def test_a_claim_is_given_up():
    catalog = Catalog()
    query(catalog, "s-1", 0)
    claim(catalog, HERE, 1)
    claim(catalog, THERE, 2)
    for key in catalog.claims("s-1"):
        catalog.apply(key, None, 3)
    assert catalog.location("s-1") is None
    assert catalog.claims("s-1") == []
    assert len(catalog.queries) == 1
