-- Each customer's total, with the city of a table beside it.
CREATE STREAM orders (id VARCHAR KEY, customer VARCHAR, price DOUBLE)
  WITH (kafka_topic='orders');
CREATE TABLE customers (name VARCHAR PRIMARY KEY, city VARCHAR) WITH (kafka_topic='customers');

CREATE STREAM orders_with_city AS
  SELECT o.customer, o.price, c.city
  FROM orders o LEFT JOIN customers c ON o.customer = c.name
  EMIT CHANGES;

CREATE TABLE spent AS
  SELECT city, COUNT(*) AS orders, SUM(price) AS total
  FROM orders_with_city GROUP BY city EMIT CHANGES;

SELECT city, total FROM spent ORDER BY total DESC LIMIT 1;
