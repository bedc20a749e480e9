"""Views: complete micro-batches, exactly once; reads by key and by range."""

import pytest

from barnabas.model.errors import LocalError
from barnabas.streams.views import TableView, ViewChange, ViewFile, count_rows


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "views" / "v.db")


def test_a_view_applies_each_micro_batch_once(path):
    with ViewFile(path, "t") as view:
        assert view.apply("q", 0, [ViewChange("a", '{"n":1}', 5), ViewChange("b", '{"n":2}', 6)])
        assert view.apply("q", 1, [ViewChange("a", None, 7), ViewChange("c", '{"n":3}', 8)])
        assert not view.apply("q", 1, [ViewChange("x", "{}", 9)])
        assert not view.apply("q", 0, [ViewChange("x", "{}", 9)])
    with TableView(path, "t") as asked:
        assert asked.get("a") is None
        assert asked.get("b") == {"n": 2}
        assert [(row.key, row.timestamp) for row in asked.scan()] == [("b", 6), ("c", 8)]
        assert [row.key for row in asked.scan(start="b", end="c")] == ["b"]
        assert [row.key for row in asked.scan(limit=1)] == ["b"]
        assert len(asked) == 2
        assert "c" in asked


def test_a_micro_batch_that_fails_leaves_nothing(path):
    def broken():
        yield ViewChange("a", "{}", 1)
        raise RuntimeError("lost")

    with ViewFile(path, "t") as view, pytest.raises(RuntimeError, match="lost"):
        view.apply("q", 0, broken())
    with TableView(path, "t") as asked:
        assert len(asked) == 0
    with ViewFile(path, "t") as view:
        assert view.apply("q", 0, [])


def test_no_view_yet(path):
    with pytest.raises(LocalError, match="the file does not exist"):
        TableView(path)


def test_rows_are_counted_and_deleted(tmp_path):
    path = str(tmp_path / "view.db")
    assert count_rows(path, "view") == 0
    with ViewFile(path, "view") as view:
        view.apply("q", 0, [ViewChange("a", "{}", 1), ViewChange("b", "{}", 1)])
    assert count_rows(path, "other") == 0
    assert count_rows(path, "view", delete=True) == 2
    assert count_rows(path, "view") == 0
