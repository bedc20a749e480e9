"""Tables of Spark's catalog: `CREATE TABLE t USING barnabas OPTIONS (...)`."""

import json

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("spark")]


@pytest.fixture
def table(spark):
    """The name of a table that is dropped after the test."""
    spark.sql("DROP TABLE IF EXISTS topics_table")
    yield "topics_table"
    spark.sql("DROP TABLE IF EXISTS topics_table")


def options(source, **more):
    pairs = {**source, **more}
    return ", ".join(f"'{name}' = '{value}'" for name, value in pairs.items())


def values(spark, query):
    return sorted(bytes(row.value) for row in spark.sql(query).collect())


def test_a_table_reads_and_writes(spark, broker, source, topic_name, table):
    broker.topic(topic_name)
    broker.produce(topic_name, "one", "two")
    given = options(source, subscribe=topic_name, topic=topic_name)
    spark.sql(f"CREATE TABLE {table} USING barnabas OPTIONS ({given})")
    assert values(spark, f"SELECT value FROM {table}") == [b"one", b"two"]
    spark.sql(f"INSERT INTO {table} (value) VALUES (CAST('three' AS BINARY))")
    assert values(spark, f"SELECT value FROM {table} WHERE offset > 0") == [b"three", b"two"]
    end = json.dumps({topic_name: {"0": 1}})
    part = f"SELECT value FROM {table} WITH ('endingOffsets' = '{end}')"
    assert values(spark, part) == [b"one"]


def test_a_table_is_read_as_a_stream(spark, broker, source, topic_name, table, tmp_path):
    broker.topic(topic_name)
    broker.produce(topic_name, "one")
    given = options(source, subscribe=topic_name, startingOffsets="earliest")
    spark.sql(f"CREATE TABLE {table} USING barnabas OPTIONS ({given})")
    seen = []
    writer = spark.readStream.table(table).writeStream.trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tmp_path))
    query = writer.foreachBatch(lambda frame, _: seen.extend(frame.collect())).start()
    assert query.awaitTermination(200)
    assert [bytes(row.value) for row in seen] == [b"one"]


def test_declared_columns_get_an_explanation(spark, broker, source, topic_name, table):
    """Spark passes their options to no Python source; the query can give them."""
    broker.topic(topic_name)
    broker.produce(topic_name, "one")
    given = options(source, subscribe=topic_name)
    spark.sql(f"CREATE TABLE {table} (value BINARY) USING barnabas OPTIONS ({given})")
    with pytest.raises(Exception, match="Leave out the columns"):
        spark.sql(f"SELECT * FROM {table}").collect()
    assert values(spark, f"SELECT * FROM {table} WITH ({given})") == [b"one"]


def test_errors_are_named(spark, source, topic_name, table):
    wrong = options(source, subscibe=topic_name)
    with pytest.raises(Exception, match="unknown option 'subscibe'; did you mean 'subscribe'"):
        spark.sql(f"CREATE TABLE {table} USING barnabas OPTIONS ({wrong})")
    secret = options(source, subscribe=topic_name, **{"kafka.sasl.password": "x"})
    with pytest.raises(Exception, match="cannot have a password"):
        spark.sql(f"CREATE TABLE {table} USING barnabas OPTIONS ({secret})")
