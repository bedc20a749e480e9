-- Products with a tag; the tags are a JSON array in a text column.
CREATE STREAM products (id VARCHAR KEY, tags VARCHAR) WITH (kafka_topic='products');

SELECT id, JSON_ARRAY_CONTAINS(tags, 'sale') AS on_sale, JSON_ARRAY_CONTAINS(tags, 7) AS seven
FROM products ORDER BY id;
