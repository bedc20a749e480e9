"""KSQL's quick start in our words: pageviews and users, joined, filtered, counted by window.

One run of all queries, then looks at what each made of it. The statements are the older and the
newer form of the guide's, side by side; only topics have other names, since tests share a broker.
"""

import json
import math

import pytest
from support.pipelines.sql_topics import committed, rows, wait_gone

from barnabas import Producer
from barnabas.streams.sql.engine.results import TableResult, TextResult
from barnabas.streams.sql.language.errors import SqlError
from barnabas.streams.sql.language.parser import parse_statement

pytestmark = [
    pytest.mark.integration,
    pytest.mark.xdist_group("spark-queries"),
    pytest.mark.timeout(600),
]
RUN_SECONDS = 240

STATEMENTS = """
CREATE STREAM pageviews_original (viewtime BIGINT, userid VARCHAR, pageid VARCHAR)
  WITH (kafka_topic='qs_pageviews', value_format='DELIMITED', timestamp='viewtime', partitions=2,
  retention_ms=-1);

CREATE TABLE users_original (registertime BIGINT, gender VARCHAR, regionid VARCHAR, userid VARCHAR)
  WITH (kafka_topic='qs_users', value_format='JSON', key='userid', partitions=2);

CREATE STREAM pageviews_enriched WITH (kafka_topic='qs_enriched', value_format='JSON') AS
  SELECT users_original.userid AS userid, pageid, regionid, gender
  FROM pageviews_original
  LEFT JOIN users_original ON pageviews_original.userid = users_original.userid
  EMIT CHANGES;

CREATE STREAM pageviews_female WITH (kafka_topic='qs_female') AS
  SELECT * FROM pageviews_enriched WHERE gender = 'FEMALE';

CREATE STREAM pageviews_female_like_89
  WITH (kafka_topic='qs_enriched_r8_r9', value_format='DELIMITED') AS
  SELECT * FROM pageviews_female WHERE regionid LIKE '%_8' OR regionid LIKE '%_9';

CREATE TABLE pageviews_regions WITH (kafka_topic='qs_regions', VALUE_FORMAT='avro') AS
  SELECT gender, regionid, COUNT(*) AS numusers
  FROM pageviews_enriched
  WINDOW TUMBLING (SIZE 30 SECONDS)
  GROUP BY gender, regionid
  HAVING COUNT(*) > 1
  EMIT CHANGES;

CREATE STREAM riderLocations (profileId VARCHAR, latitude DOUBLE, longitude DOUBLE)
  WITH (kafka_topic='qs_locations', value_format='json', partitions=1);
CREATE TABLE currentLocation WITH (kafka_topic='qs_current') AS
  SELECT profileId, LATEST_BY_OFFSET(latitude) AS la, LATEST_BY_OFFSET(longitude) AS lo
  FROM riderlocations GROUP BY profileId EMIT CHANGES;
CREATE TABLE ridersNearMountainView WITH (kafka_topic='qs_near', key_format='json') AS
  SELECT ROUND(GEO_DISTANCE(la, lo, 37.4133, -122.1162), -1) AS distanceInMiles,
         COLLECT_LIST(profileId) AS riders, COUNT(*) AS count
  FROM currentLocation
  GROUP BY ROUND(GEO_DISTANCE(la, lo, 37.4133, -122.1162), -1);
INSERT INTO riderLocations (profileId, latitude, longitude) VALUES
  ('c2', 37.7877, -122.4205), ('18', 37.3903, -122.0643), ('4a', 37.3952, -122.0813);
INSERT INTO riderLocations (profileId, latitude, longitude) VALUES ('8b', 37.3944, -122.0813);
INSERT INTO riderLocations (profileId, latitude, longitude) VALUES ('c2', 37.4049, -122.0822);
"""

USERS = [
    ("User_1", "FEMALE", "Region_8"),
    ("User_2", "MALE", "Region_1"),
    ("User_3", "FEMALE", "Region_1"),
]
RIDERS = [
    ("18", 37.3903, -122.0643),
    ("4a", 37.3952, -122.0813),
    ("8b", 37.3944, -122.0813),
    ("c2", 37.4049, -122.0822),
]
"""Where each was at last."""
VIEWS = [
    (1_000, "User_1", "Page_1"),
    (2_000, "User_2", "Page_2"),
    (3_000, "User_1", "Page_3"),
    (4_000, "User_4", "Page_4"),
    (31_000, "User_3", "Page_5"),
    (32_000, "User_1", "Page_6"),
    (59_999, "User_1", "Page_7"),
]


@pytest.fixture(scope="module")
def servers(broker):
    return broker.bootstrap_servers


@pytest.fixture(scope="module")
def engine(engine_factory, servers):
    """The quick start, after its queries have run over all of the input."""
    engine = engine_factory("quick-start")
    with pytest.raises(SqlError, match="topic 'nowhere' does not exist"):
        engine.run("CREATE STREAM s (a INT) WITH (kafka_topic='nowhere')")
    results = engine.run(STATEMENTS)
    assert all(isinstance(result, TextResult) for result in results)
    with Producer(bootstrap_servers=servers) as producer:
        for name, gender, region in USERS:
            user = {"registertime": 1, "gender": gender, "regionid": region, "userid": name}
            producer.send("qs_users", json.dumps(user).encode(), key=name.encode(), timestamp=1)
        for time, user, page in VIEWS:
            value = f"{time},{user},{page}".encode()
            producer.send("qs_pageviews", value, key=user.encode(), timestamp=time)
    engine.run_available(RUN_SECONDS)
    return engine


def test_enriched(engine, servers):
    found = rows(servers, "qs_enriched")
    assert sorted((key, value["pageid"], value.get("gender")) for key, value in found) == [
        ("User_1", "Page_1", "FEMALE"),
        ("User_1", "Page_3", "FEMALE"),
        ("User_1", "Page_6", "FEMALE"),
        ("User_1", "Page_7", "FEMALE"),
        ("User_2", "Page_2", "MALE"),
        ("User_3", "Page_5", "FEMALE"),
        ("User_4", "Page_4", None),
    ]
    times = {record.timestamp for record in committed(servers, "qs_enriched")}
    assert times == {time for time, _, _ in VIEWS}


def test_filters(engine, servers):
    assert len(rows(servers, "qs_female")) == 5
    found = sorted(record.value.decode() for record in committed(servers, "qs_enriched_r8_r9"))
    assert found == [f"User_1,Page_{n},Region_8,FEMALE" for n in (1, 3, 6, 7)]


def test_windows(engine):
    (found,) = engine.run(
        "SELECT WINDOWSTART, gender, regionid, numusers FROM pageviews_regions ORDER BY WINDOWSTART"
    )
    assert [tuple(row.values()) for row in found.rows] == [
        (0, "FEMALE", "Region_8", 2),
        (30_000, "FEMALE", "Region_8", 2),
    ]


def near(latitude, longitude):
    """Kilometres to Mountain View, to the nearest ten."""
    to_north, to_east = math.radians(37.4133), math.radians(-122.1162)
    north, east = math.radians(latitude), math.radians(longitude)
    half = math.sin((to_north - north) / 2) ** 2
    half += math.cos(north) * math.cos(to_north) * math.sin((to_east - east) / 2) ** 2
    return math.floor(6371 * 2 * math.asin(math.sqrt(half)) / 10 + 0.5) * 10


def test_riders(engine):
    (found,) = engine.run("SELECT * from ridersNearMountainView WHERE distanceInMiles <= 10")
    wanted = {}
    for name, *place in RIDERS:
        wanted.setdefault(near(*place), []).append(name)
    assert {row["distanceInMiles"]: sorted(row["riders"]) for row in found.rows} == wanted
    assert all(row["count"] == len(row["riders"]) for row in found.rows)
    assert len(wanted) == 2


def test_bounded_select(engine):
    (result,) = engine.run(
        """SELECT u.userid, UCASE(gender) AS g, COUNT(*) AS views, MAX(p.ROWTIME) AS last
           FROM pageviews_original p JOIN users_original u ON p.userid = u.userid
           GROUP BY u.userid, gender ORDER BY views DESC, u.userid LIMIT 2"""
    )
    assert isinstance(result, TableResult)
    assert list(result.rows) == [
        {"userid": "User_1", "g": "FEMALE", "views": 4, "last": 59_999},
        {"userid": "User_2", "g": "MALE", "views": 1, "last": 2_000},
    ]


def test_push_select_to_its_limit(engine):
    statement = parse_statement(
        "SELECT pageid, LEN(pageid) AS n FROM pageviews_enriched WHERE gender = 'MALE' "
        "EMIT CHANGES LIMIT 1;"
    )
    result = engine.execute(statement)
    assert result.columns == ["pageid", "n"]
    assert list(result.rows) == [{"pageid": "Page_2", "n": 6}]


def test_show_and_describe(engine):
    streams, tables, queries = engine.run("SHOW STREAMS; SHOW TABLES; SHOW QUERIES;")
    assert {row["name"]: row["windowed"] for row in tables.rows} == {
        "currentLocation": False,
        "pageviews_regions": True,
        "ridersNearMountainView": False,
        "users_original": False,
    }
    assert len(streams.rows) == 5
    assert {row["status"] for row in queries.rows} == {"STOPPED"}
    (topics,) = engine.run("SHOW TOPICS")
    assert {"topic": "qs_pageviews", "partitions": 2, "replicas": 1} in topics.rows
    (described,) = engine.run("DESCRIBE pageviews_regions")
    assert [(row["column"], row["type"]) for row in described.rows] == [
        ("gender", "STRING"),
        ("regionid", "STRING"),
        ("numusers", "BIGINT"),
        ("WINDOWSTART", "BIGINT"),
        ("WINDOWEND", "BIGINT"),
    ]
    (extended,) = engine.run("DESCRIBE pageviews_enriched EXTENDED")
    facts = {row["property"]: row["value"] for row in extended.rows}
    assert len(facts["read_by"]) == 2
    assert len(facts["written_by"]) == 1


def test_print(engine):
    (result,) = engine.run("PRINT 'qs_users' FROM BEGINNING LIMIT 3")
    assert sorted(row["key"] for row in result.rows) == ["User_1", "User_2", "User_3"]


def test_explain(engine):
    (result,) = engine.run("EXPLAIN SELECT pageid FROM pageviews_enriched EMIT CHANGES")
    assert "stream qs_enriched" in result.text
    query_id = engine.run("SHOW QUERIES")[0].rows[0]["query"]
    (result,) = engine.run(f"EXPLAIN {query_id}")
    assert "join with table" in result.text


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("DROP STREAM pageviews_enriched", "is in use: TERMINATE"),
        ("DROP TABLE pageviews_female", "is a STREAM"),
        ("CREATE STREAM pageviews_female AS SELECT * FROM pageviews_enriched", "OR REPLACE"),
        ("SELECT nofunction(pageid) FROM pageviews_enriched EMIT CHANGES", "no function"),
        ("SELECT pageid + FROM pageviews_enriched", "missing|does not belong"),
        ("TERMINATE nothing", "no query 'nothing'"),
        ("SET 'auto.offset.reste'='earliest'", "did you mean"),
        ("CREATE STREAM s AS SELECT RANDOM() AS r, pageid FROM pageviews_enriched", "replayed"),
    ],
)
def test_rejections(engine, statement, reason):
    with pytest.raises(SqlError, match=reason):
        engine.run(statement)


def test_if_not_exists(engine):
    (result,) = engine.run("CREATE TABLE IF NOT EXISTS users_original (a INT PRIMARY KEY)")
    assert "exists already" in result.text


def test_a_second_shell_sees_everything(engine, engine_factory):
    other = engine_factory("quick-start")
    assert other.catalog.queries == []
    assert other.run("SHOW QUERIES") == engine.run("SHOW QUERIES")
    other.run("CREATE STREAM made_elsewhere (a INT) WITH (kafka_topic='qs_else', partitions=1)")
    names = [row["name"] for row in engine.run("SHOW STREAMS")[0].rows]
    assert "made_elsewhere" in names
    engine.run("DROP STREAM made_elsewhere DELETE TOPIC")
    assert other.run("SHOW STREAMS") == engine.run("SHOW STREAMS")
    wait_gone(engine, "qs_else")
