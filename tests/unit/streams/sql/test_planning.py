import pytest
from support.pipelines.sql_relations import plan_of, relations

from barnabas.streams.nodes import Rekey
from barnabas.streams.schema import Schema
from barnabas.streams.sql.engine.planning import check_insert, derived
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement
from barnabas.streams.sql.language.statements import KeyRole
from barnabas.streams.sql.relations import Format
from barnabas.streams.sql.translation.plan import plan_query


def made(text, **kinds):
    """The relation and the plan; columns are strings by default."""
    statement = parse_statement(text)
    plan = plan_query(statement.query, relations())
    names = [name for name, _ in plan.all_columns]
    schema = Schema.of([(name, kinds.get(name, "string")) for name in names])
    return derived(statement, plan, schema), plan


def test_a_key_that_stays():
    relation, plan = made("CREATE STREAM s AS SELECT pageid, userid AS u FROM pageviews")
    assert [(c.name, c.role) for c in relation.columns] == [
        ("pageid", KeyRole.NONE),
        ("u", KeyRole.KEY),
    ]
    sink = plan.written(relation)
    assert sink.parent.columns == (("pageid", "`pageid`"),)
    assert sink.topic.key_format == "string"


def test_formats_come_from_the_source():
    relation, _ = made("CREATE STREAM s AS SELECT * FROM csv")
    assert relation.value_format is Format.DELIMITED
    other, _ = made("CREATE STREAM s WITH (value_format='json') AS SELECT * FROM csv")
    assert other.value_format is Format.JSON


def test_a_new_key():
    relation, plan = made(
        "CREATE STREAM s AS SELECT n, pageid FROM pageviews PARTITION BY n", n="int"
    )
    assert relation.key_columns[0].name == "n"
    sink = plan.written(relation)
    assert isinstance(sink.parent.parent, Rekey)
    assert sink.topic.key_format == "raw"


def test_windows_keep_everything_in_the_value():
    relation, plan = made(
        """CREATE TABLE t AS SELECT pageid, COUNT(*) AS c FROM pageviews
           WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY pageid""",
        c="bigint",
        WINDOWSTART="bigint",
        WINDOWEND="bigint",
    )
    assert relation.keys_in_value
    names = [column.name for column in relation.value_columns]
    assert names == ["pageid", "c", "WINDOWSTART", "WINDOWEND"]
    key = plan.written(relation).parent.parent.key
    assert "unix_millis(_key.window_start) AS `WINDOWSTART`" in key


def test_two_groups_are_a_key_in_json():
    relation, _ = made(
        "CREATE TABLE t AS SELECT n, pageid, COUNT(*) c FROM pageviews GROUP BY n, pageid"
    )
    assert relation.key_format is Format.JSON


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("CREATE STREAM s AS SELECT n, COUNT(*) c FROM pageviews GROUP BY n", "CREATE TABLE s"),
        ("CREATE TABLE t AS SELECT n FROM pageviews", "CREATE STREAM t"),
        ("CREATE TABLE t AS SELECT COUNT(*) c FROM pageviews GROUP BY n", "needs its key"),
        ("CREATE STREAM s AS SELECT n FROM pageviews LIMIT 3", "omit LIMIT"),
        ("CREATE STREAM s AS SELECT userid FROM pageviews", "value would be empty"),
        ("CREATE STREAM s WITH (key_format='json') AS SELECT * FROM pageviews", "PARTITION BY"),
        ("CREATE STREAM s WITH (colour='red') AS SELECT * FROM pageviews", "no property"),
        ("CREATE STREAM s WITH (timestamp='x') AS SELECT * FROM pageviews", "no column 'x'"),
    ],
)
def test_a_statement_of_the_wrong_kind_names_the_right_one(text, reason):
    with pytest.raises(SqlError, match=reason):
        made(text)


def test_insert_gives_the_columns_of_its_target():
    target = relations().by_name["pageviews"]
    plan = plan_of("SELECT * FROM pageviews")
    check_insert(target, plan, Schema.of("userid string, viewtime bigint, pageid string, n int"))
    with pytest.raises(SqlError, match="has the columns"):
        check_insert(
            target, plan, Schema.of("userid string, viewtime bigint, n int, pageid string")
        )
    with pytest.raises(SqlError, match="only the query that defines it"):
        check_insert(relations().by_name["users"], plan, Schema.of("userid string"))
