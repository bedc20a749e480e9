"""The language: statements and queries, read into frozen values. Knows no Spark and no broker."""
