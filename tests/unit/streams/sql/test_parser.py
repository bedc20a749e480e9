import pytest

from barnabas.streams.sql.language.dialect import is_complete
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement, parse_statements, spark_type
from barnabas.streams.sql.language.statements import (
    Column,
    Create,
    CreateAs,
    Describe,
    DropStatement,
    EmitClause,
    Explain,
    InsertSelect,
    InsertValues,
    KeyRole,
    Print,
    RelationKind,
    SelectStatement,
    SetProperty,
    Show,
    Terminate,
    WindowClause,
    WindowKind,
    Within,
)


def test_create_stream_has_columns_and_properties():
    made = parse_statement(
        "CREATE STREAM p (id VARCHAR KEY, at BIGINT) WITH (KAFKA_TOPIC='pv', partitions=3);"
    )
    assert isinstance(made, Create)
    assert made.kind is RelationKind.STREAM
    assert made.name == "p"
    assert made.columns == (Column("id", "STRING", KeyRole.KEY), Column("at", "BIGINT"))
    assert made.properties == {"kafka_topic": "pv", "partitions": "3"}
    assert not made.or_replace
    assert not made.if_not_exists


@pytest.mark.parametrize(
    ("head", "replace", "absent"),
    [
        ("CREATE", False, False),
        ("CREATE OR REPLACE", True, False),
        ("create or replace", True, False),
    ],
)
def test_or_replace_is_parsed_in_every_case(head, replace, absent):
    made = parse_statement(f"{head} TABLE t (id INT PRIMARY KEY) WITH (kafka_topic='t')")
    assert (made.or_replace, made.if_not_exists) == (replace, absent)
    assert made.columns[0].role is KeyRole.PRIMARY


def test_if_not_exists_and_source():
    made = parse_statement("CREATE SOURCE TABLE IF NOT EXISTS t (id INT PRIMARY KEY)")
    assert made.if_not_exists


@pytest.mark.parametrize(
    ("written", "spark"),
    [
        ("VARCHAR", "STRING"),
        ("varchar(20)", "STRING"),
        ("STRING", "STRING"),
        ("INTEGER", "INT"),
        ("INT", "INT"),
        ("BIGINT", "BIGINT"),
        ("DOUBLE", "DOUBLE"),
        ("BOOLEAN", "BOOLEAN"),
        ("BYTES", "BINARY"),
        ("DECIMAL(10, 2)", "DECIMAL(10, 2)"),
        ("TIMESTAMP", "TIMESTAMP"),
        ("DATE", "DATE"),
        ("ARRAY<VARCHAR>", "ARRAY<STRING>"),
        ("MAP<VARCHAR, INT>", "MAP<STRING, INT>"),
        ("STRUCT<a INT, b ARRAY<VARCHAR>>", "STRUCT<a: INT, b: ARRAY<STRING>>"),
    ],
)
def test_types_become_sparks_types(written, spark):
    assert spark_type(written) == spark
    made = parse_statement(f"CREATE STREAM s (x {written}, y INT)")
    assert made.columns == (Column("x", spark), Column("y", "INT"))


def test_create_as_with_everything():
    made = parse_statement(
        """CREATE STREAM e WITH (value_format='JSON') AS
           SELECT a.x, b.y FROM a JOIN b WITHIN (1 HOUR, 5 MINUTES) GRACE PERIOD 10 SECONDS
           ON a.x = b.x WHERE a.x > 1 PARTITION BY b.y EMIT CHANGES"""
    )
    assert isinstance(made, CreateAs)
    query = made.query
    assert query.withins == (Within(3_600_000, 300_000, 10_000),)
    assert query.emit is EmitClause.CHANGES
    assert [node.sql() for node in query.partition_by] == ["b.y"]
    assert query.tree.sql() == "SELECT a.x, b.y FROM a JOIN b ON a.x = b.x WHERE a.x > 1"


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("TUMBLING (SIZE 30 SECONDS)", WindowClause(WindowKind.TUMBLING, 30_000)),
        ("tumbling (size 1 minute)", WindowClause(WindowKind.TUMBLING, 60_000)),
        (
            "TUMBLING (SIZE 1 DAY, RETENTION 7 DAYS, GRACE PERIOD 1 HOUR)",
            WindowClause(WindowKind.TUMBLING, 86_400_000, None, 3_600_000),
        ),
        (
            "HOPPING (SIZE 1 MINUTE, ADVANCE BY 20 SECONDS)",
            WindowClause(WindowKind.HOPPING, 60_000, 20_000),
        ),
        ("SESSION (60 SECONDS)", WindowClause(WindowKind.SESSION, 60_000)),
        (
            "SESSION (500 MILLISECONDS, GRACE PERIOD 0 SECONDS)",
            WindowClause(WindowKind.SESSION, 500, None, 0),
        ),
    ],
)
def test_a_window_clause_is_parsed_and_removed(text, window):
    query = parse_statement(f"SELECT x, COUNT(*) FROM s WINDOW {text} GROUP BY x EMIT FINAL").query
    assert query.window == window
    assert query.emit is EmitClause.FINAL
    assert query.tree.sql() == "SELECT x, COUNT(*) FROM s GROUP BY x"


def test_within_of_each_join():
    query = parse_statement(
        "SELECT * FROM a JOIN b ON a.x = b.x LEFT JOIN c WITHIN 5 SECONDS ON a.x = c.x"
    ).query
    assert query.withins == (None, Within(5000, 5000))


def test_a_struct_field_and_a_lambda():
    query = parse_statement(
        "SELECT UCASE(a->b->c), transform(xs, x -> x + 1), filter(xs, x => x->y > 1) FROM s"
    ).query
    texts = [item.sql(dialect="spark") for item in query.tree.expressions]
    assert texts == ["UPPER(a.b.c)", "TRANSFORM(xs, x -> x + 1)", "FILTER(xs, x -> x.y > 1)"]


def test_partition_by_of_a_window_function_is_left_alone():
    query = parse_statement("SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM s").query
    assert not query.partition_by
    assert "PARTITION BY a" in query.tree.sql()


def test_insert_takes_values_or_a_query():
    made = parse_statement("INSERT INTO s (a, b) VALUES (1, 'it''s'), (-2, NULL)")
    assert isinstance(made, InsertValues)
    assert made.columns == ("a", "b")
    assert [[item.sql() for item in row] for row in made.rows] == [["1", "'it''s'"], ["-2", "NULL"]]
    chosen = parse_statement("INSERT INTO s SELECT * FROM t")
    assert isinstance(chosen, InsertSelect)
    assert chosen.target == "s"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SHOW STREAMS", (Show, {"what": "STREAMS"})),
        ("LIST TABLES EXTENDED", (Show, {"what": "TABLES", "extended": True})),
        ("SHOW ALL TOPICS", (Show, {"what": "TOPICS"})),
        ("show queries", (Show, {"what": "QUERIES"})),
        ("DESCRIBE s", (Describe, {"name": "s", "extended": False})),
        ("DESCRIBE EXTENDED s", (Describe, {"name": "s", "extended": True})),
        ("DESCRIBE s EXTENDED", (Describe, {"name": "s", "extended": True})),
        ("PRINT t", (Print, {"topic": "t", "from_beginning": False, "limit": None})),
        (
            "PRINT 'a-b.c' FROM BEGINNING LIMIT 3",
            (Print, {"topic": "a-b.c", "from_beginning": True, "limit": 3}),
        ),
        ("PRINT a-b.c INTERVAL 2", (Print, {"topic": "a-b.c", "interval": 2})),
        ("EXPLAIN CSAS_A_1", (Explain, {"query_id": "CSAS_A_1"})),
        ("TERMINATE CSAS_A_1", (Terminate, {"query_id": "CSAS_A_1"})),
        ("TERMINATE ALL", (Terminate, {"query_id": None})),
        ("DROP STREAM s", (DropStatement, {"name": "s", "delete_topic": False})),
        (
            "DROP TABLE IF EXISTS s DELETE TOPIC",
            (DropStatement, {"if_exists": True, "delete_topic": True, "kind": RelationKind.TABLE}),
        ),
        (
            "SET 'auto.offset.reset'='earliest'",
            (SetProperty, {"name": "auto.offset.reset", "value": "earliest"}),
        ),
        ("UNSET 'auto.offset.reset'", (SetProperty, {"value": None})),
    ],
)
def test_short_statements_are_parsed(text, expected):
    kind, values = expected
    made = parse_statement(text + ";")
    assert type(made) is kind
    assert {name: getattr(made, name) for name in values} == values


def test_explain_has_a_statement_inside():
    made = parse_statement("EXPLAIN SELECT * FROM s EMIT CHANGES")
    assert isinstance(made.statement, SelectStatement)


def test_bounded_queries_are_spark_sql():
    text = """WITH top AS (SELECT a, COUNT(*) c FROM s GROUP BY a)
              SELECT * FROM top UNION ALL SELECT 'x', 0 ORDER BY c DESC LIMIT 3"""
    assert parse_statement(text).query.emit is None


def test_several_statements_know_their_text():
    text = "SHOW STREAMS; -- first\n/* second; */ SHOW TABLES;\n;"
    found = parse_statements(text)
    assert [statement.text for statement in found] == ["SHOW STREAMS", "SHOW TABLES"]
    assert text[found[1].position :].startswith("SHOW TABLES")


@pytest.mark.parametrize(
    ("text", "complete"),
    [
        ("SELECT 1;", True),
        ("SELECT 1", False),
        ("SELECT ';", False),
        ("", True),
        ("SHOW STREAMS; SELECT", False),
    ],
)
def test_a_statement_is_complete_after_its_semicolon(text, complete):
    assert is_complete(text) is complete


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("HELLO", 1, 1, "no statement begins with 'HELLO'"),
        ("SELECT a FORM b c", 1, 15, "unexpected text"),
        ("SHOW STREAMS;\nSHOW\n  STRAMS", 3, 3, "expected STREAMS, TABLES"),
        ("SELECT 'abc", 1, 8, "not closed"),
        ("CREATE STREAM s (a BLAH)", 1, 20, "no type 'BLAH'"),
        ("CREATE STREAM s (a INT,)", 1, 24, "expected the name of a column"),
        ("CREATE STREAM s (a INT) WITH (x=1, x=2)", 1, 37, "given twice"),
        ("CREATE STREAM s (a INT) AS SELECT 1", 1, 1, "AS SELECT defines the columns"),
        ("INSERT INTO s VALUES (1, 2", 1, 27, "expected ), found the end"),
        ("PRINT", 1, 6, "expected the name of a topic"),
        ("DROP x", 1, 6, "expected STREAM or TABLE"),
        ("SET auto = 1", 1, 5, "in quotes"),
        ("SELECT * FROM s WINDOW HOPPING (SIZE 3 SECONDS) GROUP BY x", 1, 47, "ADVANCE BY"),
        ("SELECT * FROM s WINDOW TUMBLING (SIZE 3 PARSECS) GROUP BY x", 1, 41, "unit of time"),
        (
            "SELECT * FROM s PARTITION BY EMIT CHANGES",
            1,
            30,
            "expected expressions after PARTITION BY",
        ),
        ("SHOW STREAMS NOW", 1, 14, "should end here"),
        ("SELECT 1 +", 1, 10, "a keyword is missing"),
        ("SELECT", 1, 7, "expected columns to select"),
        ("SELECT a FROM", 1, 10, "expected table name"),
        ("SELECT (a FROM s", 1, 11, "expecting )"),
        ("SELECT a FROM s EMIT SOMETIMES", 1, 22, "expected CHANGES or FINAL, found 'SOMETIMES'"),
        ("SELECT * FROM a JOIN b WITHIN 1 ON a.x = b.x", 1, 33, "unknown unit of time"),
        ("INSERT s VALUES (1)", 1, 8, "expected INTO, found 's'"),
        ("INSERT INTO s (a) SELECT a FROM t", 1, 19, "a column list needs VALUES"),
        ("CREATE STREAM s (a INT) WITH (partitions)", 1, 41, "expected =, found ')'"),
        ("DESCRIBE", 1, 9, "expected the name of a stream or table"),
        ("EXPLAIN", 1, 8, "expected a statement or the id of a query"),
        ("TERMINATE a b", 1, 13, "should end here"),
        ("PRINT x LIMIT many", 1, 15, "expected a number of records, found 'many'"),
        ("UNSET x", 1, 7, "in quotes"),
        ("ALTER STREAM s ADD COLUMN x INT", 1, 1, "CREATE OR REPLACE with all columns"),
        ("CREATE CONNECTOR c WITH (a=1)", 1, 1, "CREATE CONNECTOR is not supported"),
        ("RUN SCRIPT 'x'", 1, 1, "`barnabas sql FILE`"),
        ("SHOW STREAMS; PAUSE q", 1, 15, "TERMINATE ends a query"),
    ],
)
def test_errors_have_a_position(text, line, column, reason):
    with pytest.raises(SqlError) as caught:
        parse_statements(text)
    assert reason in str(caught.value)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_the_caret_is_below_the_position():
    with pytest.raises(SqlError) as caught:
        parse_statements("SELECT 1;\nDROP x")
    assert str(caught.value).splitlines()[1:] == ["  DROP x", "       ^"]
