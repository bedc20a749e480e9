import pytest
from support.pipelines.sql_relations import query_of, relations

from barnabas.streams.sql.engine.select import bounded_text
from barnabas.streams.sql.language.errors import SqlError

KNOWN = relations().by_name


def text_of(text):
    return bounded_text(query_of(text), KNOWN)


@pytest.mark.parametrize(
    ("written", "spark"),
    [
        (
            "SELECT *, ROWTIME FROM csv ORDER BY ROWTIME LIMIT 2",
            "SELECT `csv`.`viewtime`, `csv`.`userid`, ROWTIME FROM csv ORDER BY ROWTIME LIMIT 2",
        ),
        ("SELECT c.* FROM csv c", "SELECT `c`.`viewtime`, `c`.`userid` FROM csv AS c"),
        (
            "SELECT * FROM (SELECT userid FROM csv) AS x",
            "SELECT x.* FROM (SELECT userid FROM csv) AS x",
        ),
        (
            "WITH w AS (SELECT * FROM csv) SELECT * FROM w",
            "WITH w AS (SELECT `csv`.`viewtime`, `csv`.`userid` FROM csv) SELECT w.* FROM w",
        ),
        (
            "SELECT userid, LEN(userid) FROM csv UNION SELECT 'a', 1",
            "SELECT userid, LENGTH(userid) FROM csv UNION SELECT 'a', 1",
        ),
        ("SELECT address->city FROM users", "SELECT address.city FROM users"),
        (
            "SELECT TIMESTAMPTOSTRING(viewtime, 'HH') FROM csv",
            "SELECT DATE_FORMAT(TIMESTAMP_MILLIS(viewtime), 'HH') FROM csv",
        ),
        ("SELECT COUNT(*) FROM csv", "SELECT COUNT(*) FROM csv"),
        (
            "SELECT rank() OVER (PARTITION BY userid ORDER BY viewtime) FROM csv",
            "SELECT RANK() OVER (PARTITION BY userid ORDER BY viewtime) FROM csv",
        ),
    ],
)
def test_a_bounded_select_becomes_sparks_text(written, spark):
    assert text_of(written)[0] == spark


def test_relations_that_are_read():
    _, used = text_of("SELECT 1 FROM csv WHERE EXISTS (SELECT 1 FROM users)")
    assert sorted(relation.name for relation in used) == ["csv", "users"]


def test_latest_by_offset_goes_by_the_views_columns():
    text, _ = text_of("SELECT LATEST_BY_OFFSET(userid) FROM csv")
    assert "MAX_BY(userid, STRUCT(ROWOFFSET" in text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1 FROM nowhere", "no stream or table 'nowhere'"),
        (
            "SELECT userid, COUNT(*) FROM csv WINDOW TUMBLING (SIZE 1 DAY) GROUP BY userid",
            "add EMIT CHANGES",
        ),
    ],
)
def test_a_select_that_cannot_run_is_rejected(text, reason):
    with pytest.raises(SqlError, match=reason):
        text_of(text)
