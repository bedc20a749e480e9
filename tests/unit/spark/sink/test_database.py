"""The database sink on real SQLite, with frames that are lists."""

import sqlite3

import pytest

from barnabas.model.errors import ConfigError
from barnabas.spark.sink.database import DatabaseSink


class Frame:
    def __init__(self, columns, *rows):
        self.columns, self.rows = columns, rows

    def toLocalIterator(self):
        return iter(self.rows)


@pytest.fixture
def connect(tmp_path):
    def open_database():
        return sqlite3.connect(tmp_path / "db")

    with sqlite3.connect(tmp_path / "db") as database:
        database.execute('CREATE TABLE counts ("user" TEXT PRIMARY KEY, n INT)')
    database.close()
    return open_database


def rows(connect):
    database = connect()
    found = sorted(database.execute("SELECT * FROM counts"))
    database.close()
    return found


def test_an_epoch_is_written_once(connect):
    sink = DatabaseSink(connect, "counts", query="q")
    sink(Frame(["user", "n"], ("a", 1)), 0)
    sink(Frame(["user", "n"], ("a", 1)), 0)
    sink(Frame(["user", "n"], ("b", 2)), 1)
    sink(Frame(["user", "n"], ("c", 3)), 0)
    assert rows(connect) == [("a", 1), ("b", 2)]


def test_keys_replace_rows(connect):
    sink = DatabaseSink(connect, "counts", keys=["user"], query="q")
    sink(Frame(["user", "n"], ("a", 1), ("b", 1)), 0)
    sink(Frame(["n", "user"], (5, "a")), 1)
    assert rows(connect) == [("a", 5), ("b", 1)]
    DatabaseSink(connect, "counts", keys=["user"], query="q")(Frame(["user"], ("a",)), 2)
    assert rows(connect) == [("a", 5), ("b", 1)]


def test_a_failure_leaves_neither_rows_nor_epoch(connect):
    sink = DatabaseSink(connect, "counts", query="q")
    with pytest.raises(sqlite3.IntegrityError):
        sink(Frame(["user", "n"], ("a", 1), ("a", 2)), 0)
    assert rows(connect) == []
    sink(Frame(["user", "n"], ("a", 1)), 0)
    assert rows(connect) == [("a", 1)]


def test_queries_have_epochs_of_their_own(connect):
    DatabaseSink(connect, "counts", query="one")(Frame(["user", "n"], ("a", 1)), 5)
    DatabaseSink(connect, "counts", query="two")(Frame(["user", "n"], ("b", 1)), 0)
    assert rows(connect) == [("a", 1), ("b", 1)]


def test_invalid_options_are_named(connect):
    with pytest.raises(ConfigError, match="paramstyle='numeric'"):
        DatabaseSink(connect, "counts", paramstyle="numeric")
    sink = DatabaseSink(connect, "counts", keys=["who"], query="q")
    with pytest.raises(ConfigError, match="key column 'who'"):
        sink(Frame(["user", "n"], ("a", 1)), 0)
