"""Relations that tests of SQL use, and plans of queries over them, without a cluster."""

from barnabas.streams.sql.language.parser import parse_statement, parse_statements
from barnabas.streams.sql.properties import declared
from barnabas.streams.sql.translation.plan import plan_query
from barnabas.streams.sql.translation.scope import Relations

DECLARATIONS = """
CREATE STREAM pageviews (userid VARCHAR KEY, viewtime BIGINT, pageid VARCHAR, n INT)
  WITH (value_format='JSON');
CREATE STREAM csv (viewtime BIGINT, userid VARCHAR) WITH (value_format='DELIMITED',
  timestamp='viewtime');
CREATE STREAM clicks (id BIGINT KEY, page VARCHAR, tags ARRAY<STRING>) WITH (kafka_topic='c');
CREATE TABLE users (userid VARCHAR PRIMARY KEY, gender VARCHAR, regionid VARCHAR,
  address STRUCT<city VARCHAR, street STRUCT<name VARCHAR>>) WITH (kafka_topic='users');
CREATE TABLE old_users (gender VARCHAR, userid VARCHAR) WITH (kafka_topic='old', key='userid');
CREATE TABLE regions (regionid VARCHAR PRIMARY KEY, country VARCHAR) WITH (kafka_topic='r');
CREATE TABLE accounts (id BIGINT PRIMARY KEY, owner VARCHAR) WITH (kafka_topic='a');
"""


def relations(starting="earliest"):
    found = {}
    for statement in parse_statements(DECLARATIONS):
        found[statement.name.lower()] = declared(statement)
    return Relations(found, starting)


def query_of(text):
    return parse_statement(text).query


def plan_of(text):
    return plan_query(query_of(text), relations())


def nodes_of(node):
    """Names of the nodes, the last first."""
    names = [type(node).__name__]
    for parent in node.parents:
        names += nodes_of(parent)
    return names
