-- What a stream cannot do is refused, with the reason and the way out.
CREATE STREAM numbers (n INT) WITH (kafka_topic='numbers', partitions=1);
CREATE STREAM sorted AS SELECT n FROM numbers ORDER BY n;
