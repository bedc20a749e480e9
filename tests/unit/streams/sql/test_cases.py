import pytest

from barnabas.model.errors import ConfigError
from barnabas.streams.sql.cases import (
    Case,
    decoded,
    difference,
    encoded,
    find_cases,
    newest,
    rows_difference,
)


def test_a_case_on_disk(tmp_path):
    place = tmp_path / "group" / "one"
    (place / "input").mkdir(parents=True)
    (place / "expected").mkdir()
    (place / "case.sql").write_text("SHOW STREAMS;")
    (place / "input" / "orders.jsonl").write_text(
        '{"key": "a", "value": {"n": 1}, "timestamp": 5, "step": 2}\n'
        "// a comment\n\n"
        '{"value": null, "partition": 1}\n'
    )
    (place / "expected" / "totals.jsonl").write_text('{"key": "7", "value": {"n": 1}}\n')
    (case,) = find_cases(tmp_path)
    assert case.name == "one"
    first, second = case.inputs()
    assert (first.value, first.partition, first.step) == (None, 1, 1)
    assert (second.key, second.value, second.timestamp) == (b"a", b'{"n":1}', 5)
    assert case.expected() == {"totals": [{"key": 7, "value": {"n": 1}}]}
    assert case.expected_rows is None
    assert case.expected_error is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "one.jsonl:1"),
        ("3", "a JSON object"),
        ('{"vale": 1}', "unknown vale"),
        ("{}", "no value"),
    ],
)
def test_lines_that_are_wrong(tmp_path, line, reason):
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "one.jsonl").write_text(line)
    with pytest.raises(ConfigError, match=reason):
        Case(tmp_path).inputs()


def test_a_directory_without_a_case_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="no test case"):
        find_cases(tmp_path)


@pytest.mark.parametrize("value", ["text", {"a": [1]}, 3, True, None])
def test_bytes_and_back(value):
    assert decoded(encoded(value)) == value


def test_bytes_that_are_no_text():
    assert decoded(b"\xff") == "0xff"


def record(key, value, timestamp=0):
    return {"key": key, "value": value, "timestamp": timestamp, "partition": 0}


def test_a_table_is_its_newest_records():
    records = [record("a", 1), record("b", 2), record("a", 3), record("b", None)]
    assert newest(records) == [record("a", 3)]


def test_only_what_is_expected_is_compared():
    found = [record("b", 2, 9), record("a", 1, 5)]
    assert difference([{"key": "a", "value": 1}, {"key": "b", "value": 2}], found, "t") is None
    assert difference([{"value": 2}, {"value": 1}], found, "t") is None


def test_the_order_of_one_key_counts():
    found = [record("a", 1), record("a", 2)]
    wanted = [{"key": "a", "value": 2}, {"key": "a", "value": 1}]
    assert difference(wanted, found, "t") is not None


def test_the_difference_is_shown():
    shown = difference([{"key": "a", "value": 1}], [record("a", 2)], "t")
    assert '-{"key": "a", "value": 1}' in shown
    assert '+{"key": "a", "value": 2}' in shown


def test_nothing_expected_means_nothing_found():
    assert difference([], [], "t") is None
    assert difference([], [record("a", 1)], "t") is not None


def test_rows_have_an_order():
    assert rows_difference([{"a": 1}, {"a": 2}], [{"a": 1}, {"a": 2}], "rows") is None
    assert rows_difference([{"a": 2}, {"a": 1}], [{"a": 1}, {"a": 2}], "rows") is not None
