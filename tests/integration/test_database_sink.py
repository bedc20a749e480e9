"""The database sink on real servers: an epoch is written once, also by two writers."""

import contextlib
import threading

import pytest
from support.pipelines.postgres import missing, postgres_server

from barnabas.model.errors import ConfigError
from barnabas.spark.sink.database import DatabaseSink, connection_to

pytestmark = pytest.mark.integration


class Frame:
    """A micro-batch; `pause()` is called when its rows are read."""

    def __init__(self, columns, *rows, pause=lambda: None):
        self.columns, self.rows, self.pause = columns, rows, pause

    def toLocalIterator(self):
        self.pause()
        return iter(self.rows)


@pytest.fixture(scope="module")
def postgres():
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'db'}"
    return request.getfixturevalue("postgres")


@pytest.fixture
def table(url, topic_name):
    """A table of the test's own."""
    name = f"100% {topic_name}"
    create = f'CREATE TABLE "{name}" ("user" TEXT PRIMARY KEY, n INT)'
    with contextlib.closing(connection_to(url)[0]()) as connection:
        connection.cursor().execute(create)
        connection.commit()
    return name


def rows(url, table):
    with contextlib.closing(connection_to(url)[0]()) as connection:
        cursor = connection.cursor()
        cursor.execute(f'SELECT * FROM "{table}"')
        return sorted(cursor.fetchall())


def test_an_epoch_is_written_once(url, table):
    sink = DatabaseSink.at(url, table, query=table)
    sink(Frame(["user", "n"], ("a", 1)), 0)
    sink(Frame(["user", "n"], ("a", 1)), 0)
    sink(Frame(["user", "n"], ("b", 2), ("c", None)), 1)
    sink(Frame(["user", "n"], ("d", 3)), 0)
    assert rows(url, table) == [("a", 1), ("b", 2), ("c", None)]


def test_keys_replace_rows(url, table):
    sink = DatabaseSink.at(url, table, keys=["user"], query=table)
    sink(Frame(["user", "n"], *((str(n), n) for n in range(2500))), 0)
    sink(Frame(["n", "user"], (-1, "7"), (-2, "x")), 1)
    found = dict(rows(url, table))
    assert (len(found), found["7"], found["x"], found["8"]) == (2501, -1, -2, 8)


def test_a_failure_leaves_neither_rows_nor_epoch(url, table):
    sink = DatabaseSink.at(url, table, query=table)
    with pytest.raises(Exception, match=r"(?i)unique"):
        sink(Frame(["user", "n"], ("a", 1), ("a", 2)), 0)
    assert rows(url, table) == []
    sink(Frame(["user", "n"], ("a", 1)), 0)
    assert rows(url, table) == [("a", 1)]


def test_two_drivers_with_one_micro_batch(url, table):
    """A writer that seemed dead continues beside its successor, which finds the epoch written."""
    sink = DatabaseSink.at(url, table, query=table)
    sink(Frame(["user", "n"], ("before", 0)), 0)
    begun, may_go_on = threading.Event(), threading.Event()

    def pause():
        begun.set()
        assert may_go_on.wait(60)

    first = threading.Thread(target=sink, args=(Frame(["user", "n"], ("a", 1), pause=pause), 1))
    second = threading.Thread(target=sink, args=(Frame(["user", "n"], ("a", 1)), 1))
    first.start()
    assert begun.wait(60)
    second.start()
    second.join(0.3)
    may_go_on.set()
    for thread in (first, second):
        thread.join(60)
        assert not thread.is_alive()
    assert rows(url, table) == [("a", 1), ("before", 0)]


@pytest.mark.parametrize("url", ["counts.db", "sqlite:///", "sqlite://x", "mysql://h/d"])
def test_an_invalid_database_address_is_rejected(url):
    with pytest.raises(ConfigError, match=r"not a database address \(sqlite:///PATH or postgresql"):
        DatabaseSink.at(url, "t")
