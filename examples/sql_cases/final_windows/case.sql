-- A minute's count, told once, when the minute and ten seconds of grace are over.
CREATE STREAM clicks (page VARCHAR KEY, n INT) WITH (kafka_topic='clicks');
CREATE TABLE per_minute AS
  SELECT page, COUNT(*) AS clicks
  FROM clicks WINDOW TUMBLING (SIZE 1 MINUTE, GRACE PERIOD 10 SECONDS)
  GROUP BY page EMIT FINAL;
