"""Does what statements ask for: the catalog's changes, queries on Spark, reading and writing."""
