"""Executes statements: changes of the catalog, queries on Spark, reading and writing."""
