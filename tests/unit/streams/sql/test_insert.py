import pytest
from support.pipelines.sql_relations import relations

from barnabas.streams.nodes import Filter, Project, TopicSource
from barnabas.streams.sql.engine.insert import records
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement
from barnabas.streams.sql.properties import declared
from barnabas.streams.sql.translation.records import KeyCodec, source

KNOWN = relations().by_name


def relation(text):
    return declared(parse_statement(text))


def test_json_with_a_text_key_is_read_as_it_is():
    node = source(KNOWN["pageviews"], "latest")
    assert isinstance(node, Filter)
    topic = node.parent.topic
    assert topic.key_column == "userid"
    assert topic.schema.names == ("viewtime", "pageid", "n")
    assert topic.starting == "latest"


def test_a_table_is_read_from_the_beginning_with_its_deletions():
    node = source(KNOWN["users"], "latest")
    assert isinstance(node, TopicSource)
    assert node.table
    assert node.topic.starting == "earliest"


def test_delimited_values_and_their_time():
    node = source(KNOWN["csv"])
    assert isinstance(node, Project)
    assert [name for name, _ in node.columns] == ["viewtime", "userid"]
    assert node.columns[1][1].startswith("from_csv(value, ")
    topic = node.parent.parent.topic
    assert topic.value_format == "string"
    assert topic.timestamp.startswith("timestamp_millis(from_csv(")
    assert topic.key_format == "raw"


def test_the_key_of_an_old_table_is_text():
    codec = KeyCodec(KNOWN["old_users"])
    assert codec.key_type == "string"
    assert codec.columns() == {}
    assert codec.encoded(["x"]) == "cast(x AS STRING)"


def test_numbers_are_bytes_in_kafkas_format():
    codec = KeyCodec(KNOWN["clicks"])
    assert codec.key_type == "binary"
    assert codec.columns()["id"] == "cast(conv(hex(_key), 16, -10) AS BIGINT)"
    assert codec.encoded(["x"]) == "unhex(right(lpad(hex(cast(x AS BIGINT)), 16, '0'), 16))"


def test_keys_in_json():
    one = KeyCodec(relation("CREATE STREAM s (a INT KEY, b INT) WITH (key_format='json')"))
    assert one.columns()["a"].startswith("from_json(concat(")
    assert "substring(" in one.encoded(["x"])
    two = KeyCodec(
        relation("CREATE STREAM s (a INT KEY, b INT KEY, c INT) WITH (key_format='json')")
    )
    assert set(two.columns()) == {"a", "b"}
    assert two.encoded(["x", "y"]).startswith("to_json(struct(x AS `a`, y AS `b`)")


def inserted(text, target):
    return records(parse_statement(text), target)


@pytest.mark.parametrize(
    ("values", "key", "value"),
    [
        ("('u', 5, 'p', 1)", b"u", b'{"viewtime":5,"pageid":"p","n":1}'),
        ("('u', 5, NULL, -1)", b"u", b'{"viewtime":5,"pageid":null,"n":-1}'),
        ("('u', '5', 'it''s', 1)", b"u", b'{"viewtime":5,"pageid":"it\'s","n":1}'),
    ],
)
def test_values_as_json(values, key, value):
    (record,) = inserted(f"INSERT INTO pageviews VALUES {values}", KNOWN["pageviews"])
    assert (record.key, record.value, record.timestamp) == (key, value, None)


def test_values_by_name_with_a_time():
    (record,) = inserted(
        "INSERT INTO pageviews (ROWTIME, n, userid) VALUES (7, 1, 'u')", KNOWN["pageviews"]
    )
    assert record.timestamp == 7
    assert record.value == b'{"viewtime":null,"pageid":null,"n":1}'


def test_values_with_structure():
    (record,) = inserted(
        "INSERT INTO users VALUES ('u', 'f', 'r', STRUCT(city := 'B', street := NULL))",
        KNOWN["users"],
    )
    assert record.value == (b'{"gender":"f","regionid":"r","address":{"city":"B","street":null}}')
    (other,) = inserted("INSERT INTO clicks VALUES (-2, 'p', ARRAY['a', 'b'])", KNOWN["clicks"])
    assert other.key == (-2).to_bytes(8, "big", signed=True)
    assert other.value == b'{"page":"p","tags":["a","b"]}'


def test_a_delimited_value_is_quoted():
    (record,) = inserted("INSERT INTO csv VALUES (5, 'a,b')", KNOWN["csv"])
    assert record.value == b'5,"a,b"'
    assert record.key is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("INSERT INTO pageviews VALUES (1)", "4 columns, but 1 values"),
        ("INSERT INTO pageviews (m) VALUES (1)", "no column 'm'"),
        ("INSERT INTO pageviews (n) VALUES ('x')", "'x' is not of type INT"),
        ("INSERT INTO pageviews (n) VALUES (1.5)", "is not of type INT"),
        ("INSERT INTO pageviews (n) VALUES (LEN('x'))", "is not a constant"),
        ("INSERT INTO pageviews (ROWTIME) VALUES ('x')", "ROWTIME must be a number"),
    ],
)
def test_values_that_do_not_fit(text, reason):
    with pytest.raises(SqlError, match=reason):
        inserted(text, KNOWN["pageviews"])


def test_a_table_row_needs_its_key():
    with pytest.raises(SqlError, match="needs a key"):
        inserted("INSERT INTO users (gender) VALUES ('f')", KNOWN["users"])
