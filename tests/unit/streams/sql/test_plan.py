import pytest
from support.pipelines.sql_relations import nodes_of, plan_of

from barnabas.streams.nodes import Aggregate, Filter, StreamJoin, StreamTableJoin, TableJoin
from barnabas.streams.sql.language.errors import SqlError, UnsupportedError
from barnabas.streams.windows import Emit, Shape


def test_where_becomes_a_filter():
    plan = plan_of("SELECT * FROM pageviews WHERE pageid LIKE '%_8' EMIT CHANGES LIMIT 3")
    assert isinstance(plan.node, Filter)
    assert plan.node.predicate == "`pageid` LIKE '%_8'"
    assert [name for name, _ in plan.columns] == ["userid", "viewtime", "pageid", "n"]
    assert plan.key == ("userid",)
    assert plan.key_texts is None
    assert plan.limit == 3
    assert not plan.is_table


@pytest.mark.parametrize(
    ("written", "spark"),
    [
        ("UCASE(pageid)", "UPPER(`pageid`)"),
        ("LCASE(pageid)", "LOWER(`pageid`)"),
        ("LEN(pageid)", "LENGTH(`pageid`)"),
        ("SUBSTRING(pageid, 2)", "SUBSTRING(`pageid`, 2)"),
        ("pageid + 'x'", "`pageid` + 'x'"),
        ("CAST(n AS VARCHAR)", "CAST(`n` AS STRING)"),
        ("ROWTIME", "unix_millis(_timestamp)"),
        ("p.ROWTIME", "unix_millis(_timestamp)"),
        ("ROWPARTITION", "_partition"),
        ("ROWOFFSET", "_offset"),
        ("ROWKEY", "cast(_key AS STRING)"),
        (
            "TIMESTAMPTOSTRING(viewtime, 'yyyy-MM-dd')",
            "DATE_FORMAT(TIMESTAMP_MILLIS(`viewtime`), 'yyyy-MM-dd')",
        ),
        (
            "TIMESTAMPTOSTRING(viewtime, 'HH', 'Europe/Berlin')",
            "DATE_FORMAT(FROM_UTC_TIMESTAMP(CAST(TIMESTAMP_MILLIS(`viewtime`) AS TIMESTAMP), "
            "'Europe/Berlin'), 'HH')",
        ),
        ("EXTRACTJSONFIELD(pageid, '$.a')", "GET_JSON_OBJECT(`pageid`, '$.a')"),
        (
            "JSON_ARRAY_CONTAINS(pageid, 3)",
            "ARRAY_CONTAINS(FROM_JSON(`pageid`, 'array<string>'), CAST(3 AS STRING))",
        ),
        ("CASE WHEN n > 1 THEN 'a' ELSE 'b' END", "CASE WHEN `n` > 1 THEN 'a' ELSE 'b' END"),
        ("n BETWEEN 1 AND 2", "`n` BETWEEN 1 AND 2"),
        ("IFNULL(n, 0)", "COALESCE(`n`, 0)"),
        ("AS_VALUE(pageid)", "`pageid`"),
        ("URL_EXTRACT_HOST(pageid)", "PARSE_URL(`pageid`, 'HOST')"),
        ("FIELD(pageid, 'a', 'b')", "ARRAY_POSITION(ARRAY('a', 'b'), `pageid`)"),
        ("LEN(UCASE(pageid))", "LENGTH(UPPER(`pageid`))"),
    ],
)
def test_functions_of_ksqldb_become_sparks(written, spark):
    plan = plan_of(f"SELECT {written} AS x FROM pageviews p EMIT CHANGES")
    assert dict(plan.columns)["x"] == spark


@pytest.mark.parametrize(
    ("written", "spark"),
    [
        ("COUNT(*)", "COUNT(*)"),
        ("SUM(n)", "SUM(`n`)"),
        ("COLLECT_LIST(n)", "COLLECT_LIST(`n`)"),
        ("COLLECT_SET(n)", "COLLECT_SET(`n`)"),
        ("TOPK(n, 2)", "SLICE(SORT_ARRAY(COLLECT_LIST(`n`), FALSE), 1, 2)"),
        ("TOPKDISTINCT(n, 2)", "SLICE(SORT_ARRAY(COLLECT_SET(`n`), FALSE), 1, 2)"),
        ("COUNT_DISTINCT(n)", "CAST(SIZE(COLLECT_SET(`n`)) AS BIGINT)"),
        ("COUNT(DISTINCT n)", "CAST(SIZE(COLLECT_SET(`n`)) AS BIGINT)"),
    ],
)
def test_aggregates_of_ksqldb_become_sparks(written, spark):
    plan = plan_of(f"SELECT pageid, {written} AS x FROM pageviews GROUP BY pageid EMIT CHANGES")
    assert isinstance(plan.node, Aggregate)
    assert plan.node.aggregates == (("_aggregate_0", spark),)
    assert dict(plan.columns)["x"] == "`_aggregate_0`"
    assert plan.is_table


@pytest.mark.parametrize("name", ["LATEST_BY_OFFSET", "EARLIEST_BY_OFFSET"])
def test_by_offset_orders_by_arrival_without_nulls(name):
    plan = plan_of(f"SELECT userid, {name}(n) x, {name}(n, 3) y FROM pageviews GROUP BY userid")
    one, several = (text for _, text in plan.node.aggregates)
    assert ("MAX_BY" if name.startswith("LATEST") else "MIN_BY") in one
    assert "_offset" in one
    assert "FILTER(WHERE NOT `n` IS NULL)" in one
    assert "1, 3" in several


def test_a_windowed_group():
    plan = plan_of(
        """SELECT pageid, COUNT(*) AS n, WINDOWSTART AS begin FROM pageviews
           WINDOW HOPPING (SIZE 1 MINUTE, ADVANCE BY 20 SECONDS, GRACE PERIOD 5 SECONDS)
           GROUP BY pageid HAVING COUNT(*) > 1 AND MAX(n) < 9 EMIT CHANGES"""
    )
    having, aggregate = plan.node, plan.node.parent
    assert having.predicate == "`_aggregate_0` > 1 AND `_aggregate_1` < 9"
    assert aggregate.window.shape is Shape.HOPPING
    assert (aggregate.window.size_ms, aggregate.window.advance_ms) == (60_000, 20_000)
    assert aggregate.window.grace_ms == 5000
    assert dict(plan.columns)["begin"] == "unix_millis(window_start)"
    assert [name for name, _ in plan.all_columns] == [
        "pageid",
        "n",
        "begin",
        "WINDOWSTART",
        "WINDOWEND",
    ]
    assert plan.key_texts == (
        "_key.`pageid`",
        "unix_millis(_key.window_start)",
        "unix_millis(_key.window_end)",
    )


@pytest.mark.parametrize(("emit", "grace"), [("CHANGES", 86_400_000), ("FINAL", 0)])
def test_grace_by_default(emit, grace):
    plan = plan_of(
        f"SELECT n, COUNT(*) c FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY n EMIT {emit}"
    )
    assert plan.node.window.grace_ms == grace
    assert plan.node.emit is Emit[emit]
    assert plan.is_table


def test_groups_by_expression_and_alias():
    plan = plan_of(
        "SELECT UCASE(pageid) AS p, n + 1, COUNT(*) AS c FROM pageviews GROUP BY p, n + 1"
    )
    assert plan.node.keys == (("p", "UPPER(`pageid`)"), ("KSQL_COL_1", "`n` + 1"))
    assert plan.key == ("p", "KSQL_COL_1")


def test_rows_without_their_group_are_in_no_group():
    plan = plan_of("SELECT pageid, COUNT(*) c FROM pageviews GROUP BY pageid")
    assert plan.node.parent.predicate == "(`pageid`) IS NOT NULL"


def test_aggregates_are_counted_once():
    plan = plan_of("SELECT n, COUNT(*) a, COUNT(*) + 1 b FROM pageviews GROUP BY n")
    assert len(plan.node.aggregates) == 1


def test_a_stream_looks_a_table_up():
    plan = plan_of(
        """SELECT u.userid AS userid, p.pageid, u.address->street->name AS street
           FROM pageviews p LEFT JOIN users u ON p.userid = u.userid EMIT CHANGES"""
    )
    join = plan.node
    assert isinstance(join, StreamTableJoin)
    assert join.kind == "left"
    assert join.left.key == "cast(`userid` AS STRING)"
    assert dict(plan.columns) == {
        "userid": "`u__userid`",
        "pageid": "`p__pageid`",
        "street": "`u__address`.`street`.`name`",
    }
    # u.userid may be null here, so it is not the key; p.userid is.
    assert plan.key == ()
    assert plan.key_texts == ("`p__userid`",)


def test_the_key_of_an_inner_join_is_either_side():
    plan = plan_of("SELECT u.userid, pageid FROM pageviews p JOIN users u ON p.userid = u.userid")
    assert plan.key == ("userid",)
    assert plan.key_texts == ("`p__userid`",)


def test_a_stream_looks_up_numbers_by_their_bytes():
    plan = plan_of("SELECT c.id, owner FROM clicks c JOIN accounts a ON a.id = c.id")
    assert plan.node.left.key.startswith("unhex(")


def test_streams_are_joined_within_a_time():
    plan = plan_of(
        """SELECT p.userid, c.page FROM pageviews p JOIN clicks c
           WITHIN (1 MINUTE, 2 MINUTES) GRACE PERIOD 3 SECONDS
           ON p.n = c.id AND c.page <> 'x' EMIT CHANGES"""
    )
    assert isinstance(plan.node, Filter)
    assert plan.node.predicate == "`c__page` <> 'x'"
    join = plan.node.parent
    assert isinstance(join, StreamJoin)
    assert (join.before_ms, join.after_ms, join.grace_ms) == (60_000, 120_000, 3000)
    assert join.left.key == "cast(`n` AS STRING)"
    assert join.right.key == "cast(`id` AS STRING)"
    assert plan.key_texts == ("`p__n`",)


def test_a_stream_is_joined_with_two_tables():
    plan = plan_of(
        """SELECT p.pageid, u.gender, r.country FROM pageviews p
           JOIN users u ON p.userid = u.userid
           LEFT JOIN regions r ON u.regionid = r.regionid EMIT CHANGES"""
    )
    assert nodes_of(plan.node).count("StreamTableJoin") == 2
    assert dict(plan.columns)["country"] == "`r__country`"
    assert [relation.name for relation in plan.sources] == ["pageviews", "users", "regions"]


def test_tables_by_key_and_by_foreign_key():
    by_key = plan_of(
        "SELECT u.userid, o.gender FROM users u JOIN old_users o ON u.userid = o.userid"
    )
    assert isinstance(by_key.node, TableJoin)
    assert by_key.node.on is None
    assert by_key.is_table
    foreign = plan_of(
        "SELECT u.userid, country FROM users u JOIN regions r ON u.regionid = r.regionid"
    )
    assert foreign.node.on == "cast(`regionid` AS STRING)"
    assert foreign.key == ("userid",)


def test_partition_by_sets_the_key():
    plan = plan_of("SELECT pageid, n FROM pageviews PARTITION BY pageid EMIT CHANGES")
    assert plan.key == ("pageid",)
    assert plan.key_texts == ("`pageid`",)
    by_alias = plan_of("SELECT UCASE(pageid) AS p, n FROM pageviews PARTITION BY p")
    assert by_alias.key == ("p",)
    assert by_alias.key_texts == ("UPPER(`pageid`)",)
    hidden = plan_of("SELECT n FROM pageviews PARTITION BY pageid")
    assert hidden.key == ()


def test_star_in_a_join_has_the_aliases():
    plan = plan_of("SELECT * FROM pageviews p JOIN users u ON p.userid = u.userid")
    names = [name for name, _ in plan.columns]
    assert names[:2] == ["p_userid", "p_viewtime"]
    assert names[-1] == "u_address"


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("SELECT pageidd FROM pageviews", 8, "no column 'pageidd' in pageviews; did you mean"),
        ("SELECT * FROM pageview", 15, "no stream or table 'pageview'; did you mean 'pageviews'"),
        ("SELECT n FROM pageviews ORDER BY n", 34, "cannot be sorted"),
        ("SELECT DISTINCT n FROM pageviews", None, "use GROUP BY"),
        ("SELECT n FROM pageviews UNION SELECT id FROM clicks", None, "INSERT INTO"),
        ("SELECT n FROM (SELECT n FROM pageviews)", None, "create a stream for it"),
        ("SELECT COUNT(*) FROM pageviews", None, "needs GROUP BY"),
        ("SELECT n, pageid, COUNT(*) FROM pageviews GROUP BY n", 11, "neither in GROUP BY"),
        ("SELECT n FROM pageviews WHERE COUNT(*) > 1", 31, "use HAVING"),
        ("SELECT n, COUNT(*) FROM pageviews GROUP BY 1", 44, "not numbers"),
        ("SELECT n, COUNT(*) FROM pageviews GROUP BY n EMIT FINAL", 1, "there is no window"),
        ("SELECT n FROM pageviews WINDOW TUMBLING (SIZE 1 DAY)", 1, "WINDOW needs GROUP BY"),
        (
            "SELECT p.n FROM pageviews p JOIN clicks c ON p.n = c.id",
            46,
            "needs WITHIN",
        ),
        (
            "SELECT p.n FROM pageviews p JOIN users u ON p.userid = u.gender",
            45,
            "looked up by its key (userid)",
        ),
        (
            "SELECT p.n FROM pageviews p JOIN users u ON p.userid = u.userid AND p.n > 1",
            45,
            "move the rest of ON to WHERE",
        ),
        (
            "SELECT p.n FROM pageviews p RIGHT JOIN users u ON p.userid = u.userid",
            51,
            "INNER or LEFT JOIN",
        ),
        (
            "SELECT p.n FROM users u JOIN pageviews p ON p.userid = u.userid",
            45,
            "put p first",
        ),
        (
            "SELECT userid FROM pageviews p JOIN users u ON p.userid = u.userid",
            8,
            "write p.userid or u.userid",
        ),
        (
            "SELECT p.n FROM pageviews p LEFT JOIN clicks c WITHIN 1 HOUR ON p.n = c.id AND n > 1",
            80,
            "takes one equality",
        ),
        ("SELECT n, n FROM pageviews", 11, "two columns have the name 'n'"),
        ("SELECT gender FROM users", 1, "a table needs its key"),
        ("SELECT userid FROM users PARTITION BY gender", 1, "cannot be repartitioned"),
        ("SELECT row_number() OVER (ORDER BY n) FROM pageviews", 8, "a stream has no end"),
        ("SELECT TIMESTAMPTOSTRING(n) FROM pageviews", 8, "takes 2 or 3 arguments, not 1"),
        ("SELECT AS_VALUE(n, n) FROM pageviews", 8, "AS_VALUE takes 1 argument, not 2"),
        ("SELECT n, HISTOGRAM(n) FROM pageviews GROUP BY n", None, "HISTOGRAM is not supported"),
        (
            "SELECT userid, COUNT(*) FROM users WINDOW TUMBLING (SIZE 1 DAY) GROUP BY userid",
            1,
            "WINDOW needs a stream",
        ),
    ],
)
def test_unsupported_streaming_queries(text, column, reason):
    with pytest.raises(SqlError) as caught:
        plan_of(text if "EMIT" in text else f"{text} EMIT CHANGES")
    assert reason in caught.value.reason
    if column is not None:
        assert caught.value.column == column


def test_unsupported_and_invalid_have_different_errors():
    with pytest.raises(UnsupportedError):
        plan_of("SELECT n FROM pageviews ORDER BY n EMIT CHANGES")


@pytest.mark.parametrize("key", ["ROWKEY", "COALESCE(u.userid, o.userid) AS id"])
def test_the_key_of_a_full_join_is_either_that_is_there(key):
    plan = plan_of(
        f"SELECT {key}, o.gender FROM users u FULL JOIN old_users o ON u.userid = o.userid"
    )
    name = key.split()[-1]
    assert plan.key == (name,)
    assert dict(plan.columns)[name] == "COALESCE(`u__userid`, `o__userid`)"
    assert plan.key_texts is None
    streams = plan_of(
        f"SELECT {key} FROM pageviews u FULL JOIN pageviews o WITHIN 1 DAY ON u.userid = o.userid"
    )
    assert streams.key == (name,)
    assert streams.key_texts == ("coalesce(`u__userid`, `o__userid`)",)
