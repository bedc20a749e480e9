"""Statements of ksqlDB, and of SQL, that are not here: what to do instead."""

INSTEAD = {
    "ALTER": "CREATE OR REPLACE with all columns changes a stream or a table",
    "ASSERT": "`barnabas test` compares topics with what is expected",
    "DEFINE": "a script's variables are for the program that writes it",
    "UNDEFINE": "a script's variables are for the program that writes it",
    "DELETE": "a record without a value deletes a table's row: `barnabas produce` sends one",
    "PAUSE": "TERMINATE ends a query; CREATE OR REPLACE … AS begins it anew",
    "RESUME": "queries of earlier go on when a shell is opened, or with --keep-running",
    "RUN": "`barnabas sql FILE` runs a script",
    "SPOOL": "`barnabas sql -e … > FILE` writes answers to a file",
    "UPDATE": "INSERT INTO … VALUES with a table's key replaces its row",
    "CREATE CONNECTOR": "Spark reads and writes what connectors do: see barnabas.spark",
    "CREATE TYPE": "write the type out where it is used, as STRUCT<…>",
    "CREATE TOPIC": "`barnabas topics create` makes one, and so does WITH (partitions=…)",
    "DROP CONNECTOR": "there are no connectors here",
    "DROP TYPE": "there are no named types here",
    "SHOW CONNECTORS": "there are no connectors here",
    "SHOW FUNCTIONS": "all of Spark's functions are there: SELECT explode(…) and so on",
    "SHOW TYPES": "there are no named types here",
    "SHOW VARIABLES": "there are no variables here; SHOW PROPERTIES has what was SET",
    "DESCRIBE FUNCTION": "Spark's guide of built-in functions describes them",
}
"""By the first word or the first two."""


def instead(words: list[str]) -> str | None:
    """What to do instead of a statement that begins with these words."""
    upper = [word.upper() for word in words[:2]]
    found = INSTEAD.get(" ".join(upper)) or INSTEAD.get(upper[0])
    return None if found is None else f"{' '.join(upper)} is not a statement here: {found}"
