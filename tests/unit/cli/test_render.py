import argparse
import io
import json

import pytest

from barnabas.cli.framework.output import printable, show, table_text, yaml_text

ROWS = [
    {"name": "a", "count": 5, "isr": [1, 2], "note": None, "hidden": {"x": 1}},
    {"name": "long name", "count": 12345, "isr": [], "note": "tab\there", "hidden": {}},
]


def shown(form, rows=ROWS, columns=("name", "count", "isr", "note")):
    out = io.StringIO()
    show(argparse.Namespace(format=form), rows, columns, out)
    return out.getvalue()


def test_a_table_has_aligned_columns_and_escaped_control_characters():
    assert shown("table") == (
        "NAME       COUNT  ISR  NOTE\na              5  1,2  -\nlong name  12345  -    tab\\there\n"
    )


def test_a_table_without_rows_has_a_header():
    assert shown("table", []) == "NAME  COUNT  ISR  NOTE\n"


def test_tsv_has_no_header_and_no_tabs_inside():
    assert shown("tsv") == "a\t5\t1,2\t-\nlong name\t12345\t-\ttab\\there\n"


def test_json_has_every_key():
    assert json.loads(shown("json")) == ROWS
    assert shown("json", []) == "[]\n"


def test_yaml_quotes_ambiguous_text():
    assert yaml_text({"a": [], "b": {}, "c": None, "d": True, "e": "x: y"}) == (
        'a: []\nb: {}\nc: null\nd: true\ne: "x: y"'
    )
    assert yaml_text([]) == "[]"


@pytest.mark.parametrize(("value", "text"), [(True, "yes"), (1.25, "1.2"), ({"a": 1}, "a=1")])
def test_booleans_numbers_and_mappings_are_printed_as_text(value, text):
    assert table_text([{"x": value}], ["x"]).splitlines()[1].strip() == text


@pytest.mark.parametrize("form", ["table", "tsv", "json", "yaml"])
def test_no_form_passes_control_characters_to_the_terminal(form):
    rows = [{"name": "a\x1b[31m\x9b2J\x7f\x07\rb", "tags": {"\x1b]0;t": ["\x1b"]}}]
    text = shown(form, rows, ("name", "tags"))
    assert not set(text) & {"\x1b", "\x9b", "\x7f", "\x07", "\r"}
    assert "1b[31m" in text
    if form == "json":
        assert json.loads(text) == rows


def test_texts_keep_their_lines():
    assert printable("a\tb\nc\x1b[0m") == "a\tb\nc\\x1b[0m"
