"""The pages of records in a real browser."""

import csv
import json

import pyarrow.parquet as parquet
import pytest
from support.console.browser import NARROW

from barnabas import Producer

LONG_TOPIC = 400_000
"""Records of a search that takes several seconds."""
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


def write(console, topic, values):
    console.api("POST", "/topics", {"name": topic, "partitions": 1})
    records = [{"key": f"k{n}", "value": value} for n, value in enumerate(values)]
    console.api("POST", f"/topics/{topic}/records", {"records": records})


def test_records_are_browsed_searched_and_opened(browser, console, topic_name):
    write(console, topic_name, [f'{{"n": {n}}}' for n in range(60)] + [HOSTILE])
    browser.open(f"/topics/{topic_name}/records")
    browser.shows(HOSTILE)
    browser.shows("50 of about 61 records")
    browser.picture("records")
    browser.click("Older")
    browser.shows('{"n": 3}')
    browser.fill("Search for", '"n": 4')
    browser.click("Search")
    browser.shows("11 matches in 61 records")
    browser.picture("records-search")
    browser.link("4")
    browser.shows("offsets 0 to")
    browser.shows("The record has no headers")
    browser.picture("record")
    browser.click("Copy as CLI")
    browser.shows("barnabas consume ")


@pytest.mark.parametrize(
    ("label", "kind", "query"),
    [
        ("Regular expression", "regex", "o{2}-[12]"),
        ("JSON path", "jsonpath", "$.tags[?(@.n > 0)]"),
        ("Expression", "expression", 'value["name"] != "foo-0" and key.startswith("k")'),
    ],
)
def test_records_are_searched_by_kind(browser, console, topic_name, label, kind, query):
    values = [f'{{"name": "foo-{n}", "tags": [{{"n": {n}}}]}}' for n in range(3)]
    write(console, topic_name, values)
    browser.open(f"/topics/{topic_name}/records")
    browser.shows("foo-0")
    browser.choose("Search by", label)
    browser.fill("Search for", query)
    browser.click("Search")
    browser.shows("2 matches in 3 records")
    assert "foo-0" not in browser.find('[aria-label="Records"]').text
    browser.click("Copy as CLI")
    browser.shows(f"kind={kind}")


def test_a_wrong_pattern_is_explained(browser, console, topic_name):
    write(console, topic_name, ["first"])
    browser.open(f"/topics/{topic_name}/records")
    browser.choose("Search by", "Regular expression")
    browser.fill("Search for", "(")
    browser.click("Search")
    browser.shows("Search failed: ")
    browser.shows("'(' is not a regular expression")


def test_a_long_search_shows_its_progress_and_is_cancelled(browser, broker, console, topic_name):
    write(console, topic_name, ["first"])
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        for number in range(LONG_TOPIC):
            producer.send(topic_name, b'{"n": %d}' % number)
    browser.open(
        f"/topics/{topic_name}/records?kind=expression&search=value%5B%22n%22%5D%20%3C%200"
    )
    browser.shows("Searching: 0 matches in")
    browser.click("Cancel")
    browser.shows("Search cancelled; 0 matches so far")


def test_the_link_of_a_record_and_its_bytes(browser, console, topic_name):
    write(console, topic_name, ["text"])
    browser.open(f"/topics/{topic_name}/records/0/0")
    browser.click("Copy link")
    browser.shows("Link copied")
    browser.choose("Value format", "Hex")
    browser.shows("74 65 78 74")


def test_a_link_selects_records_from_a_time_on(browser, console, topic_name):
    write(console, topic_name, ["first"])
    browser.open(f"/topics/{topic_name}/records?start=time&time=2020-01-01%2000:00:00")
    browser.shows("first")
    browser.open(f"/topics/{topic_name}/records?start=time&time=2100-01-01%2000:00:00")
    browser.shows("No records")


def test_a_record_is_produced_and_produced_again(browser, console, topic_name):
    write(console, topic_name, ["first"])
    browser.open(f"/topics/{topic_name}/records")
    browser.click("Produce record")
    browser.fill("Key", "typed")
    browser.fill("Value", "second")
    browser.fill("Headers, NAME=VALUE per line", "source=form")
    browser.picture("records-produce")
    browser.click("Copy as Python")
    browser.shows("producer.send(")
    browser.run_action()
    browser.shows("second")
    browser.open(f"/topics/{topic_name}/records/0/1")
    browser.shows("source")
    browser.click("Produce again")
    browser.run_action()
    browser.shows("partition 0, offset 2")


def test_the_records_fit_narrow_windows(browser, console, topic_name):
    write(console, topic_name, ["x" * 2000])
    browser.resize(NARROW)
    browser.open(f"/topics/{topic_name}/records")
    browser.shows("1 of about 1 record in 1 partition")
    browser.picture("records-narrow")
    browser.fits()


def values_of(console, topic):
    page = console.api("GET", f"/topics/{topic}/records")
    return [item["value"]["text"] for item in page["items"] if item["control"] is None]


def test_new_records_appear_while_the_live_tail_is_on(browser, console, topic_name):
    write(console, topic_name, ["old"])
    path = f"/topics/{topic_name}/records"
    browser.open(path)
    browser.shows("old")
    browser.press('//*[@role="switch"]')
    browser.shows("Waiting for new records")
    console.api("POST", path, {"records": [{"value": f"new-{n}"} for n in range(3)]})
    browser.shows("3 new records; the newest is first")
    assert browser.text.index("new-2") < browser.text.index("new-0")
    assert "old" not in browser.text
    browser.picture("records-tail")
    console.api("POST", path, {"records": [{"value": HOSTILE}]})
    browser.shows("4 new records")
    browser.shows(HOSTILE)
    browser.press('//*[@role="switch"]')
    browser.shows("Live tail is off")
    browser.click("Show")
    browser.shows("5 of about 5 records")


def read_jsonl(path):
    documents = [json.loads(line) for line in path.read_text().splitlines()]
    return [(item["key"], item["value"]) for item in documents]


def read_csv(path):
    with path.open(newline="") as lines:
        return [(row["key"], row["value"]) for row in csv.DictReader(lines)]


def read_parquet(path):
    rows = parquet.read_table(path).to_pylist()
    return [(row["key"].decode(), row["value"].decode()) for row in rows]


@pytest.mark.parametrize(
    ("label", "ending", "read"),
    [
        ("JSON lines", "jsonl", read_jsonl),
        ("CSV", "csv", read_csv),
        ("Parquet", "parquet", read_parquet),
    ],
)
def test_records_are_downloaded(browser, console, topic_name, tmp_path, label, ending, read):
    write(console, topic_name, ["a", "b\nb, c", HOSTILE])
    browser.downloads(tmp_path)
    browser.open(f"/topics/{topic_name}/records")
    browser.click("Download")
    browser.press(f'//*[contains(@class, "q-menu")]//*[normalize-space(text())="{label}"]')
    file = tmp_path / f"{topic_name}.{ending}"
    browser.wait(file.exists)
    assert read(file) == [("k0", "a"), ("k1", "b\nb, c"), ("k2", HOSTILE)]


def test_records_are_produced_from_a_downloaded_file(browser, console, topic_name, tmp_path):
    write(console, topic_name, ["a"])
    file = tmp_path / "records.jsonl"
    file.write_text('{"key": "k", "value": "from a file"}\n{"value": "second"}\n')
    browser.open(f"/topics/{topic_name}/records")
    browser.click("Produce file")
    browser.shows("Choose a file")
    browser.picture("records-produce-file")
    browser.choose_file(file)
    browser.shows("2 records produced")
    browser.shows("from a file")
    file.write_text("no json\n")
    browser.click("Produce file")
    browser.choose_file(file)
    browser.shows("line 1")
    assert values_of(console, topic_name) == ["a", "from a file", "second"]
    browser.choose("Format", "Each line is a value")
    browser.choose_file(file)
    browser.shows("1 record produced")
    assert values_of(console, topic_name)[-1] == "no json"


def write_letter(console, topic):
    """Writes a letter, and creates its topics."""
    dead = f"{topic}.dlq"
    write(console, topic, ["v"])
    console.api("POST", "/topics", {"name": dead, "partitions": 1})
    headers = [
        {"name": "dlq.topic", "value": topic},
        {"name": "dlq.error.class", "value": "ValueError"},
        {"name": "dlq.error.message", "value": HOSTILE},
        {"name": "source", "value": "shop"},
    ]
    records = {"records": [{"key": "k", "value": "broken", "headers": headers}]}
    console.api("POST", f"/topics/{dead}/records", records)
    return dead


def test_dead_letters_are_sent_back(browser, console, topic_name):
    dead = write_letter(console, topic_name)
    browser.open(f"/dead-letters?topic={dead}")
    browser.shows("ValueError")
    browser.press("tbody .q-checkbox")
    browser.picture("dead-letters")
    browser.click("Send back")
    browser.shows("1 of 1 letter sent back")
    assert values_of(console, topic_name) == ["v", "broken"]


def test_a_dead_letter_is_edited_and_sent_back_once(browser, console, topic_name):
    dead = write_letter(console, topic_name)
    browser.open(f"/dead-letters?topic={dead}")
    browser.shows("ValueError")
    browser.click("Edit and send back")
    browser.shows("Select one letter to edit")
    browser.press("tbody .q-checkbox")
    browser.click("Edit and send back")
    browser.fill("Value", '{"repaired": true}')
    browser.picture("dead-letters-edit")
    browser.click("Copy as Python")
    browser.shows("repaired")
    browser.click("Send edited letter")
    browser.shows("1 of 1 letter sent back")
    assert values_of(console, topic_name) == ["v", '{"repaired": true}']
    sent = console.api("GET", f"/topics/{topic_name}/partitions/0/records/1")
    names = [item["name"] for item in sent["record"]["headers"]]
    assert "source" in names
    assert not [name for name in names if name.startswith("dlq.")]
    # The letters are read again at the end, which clears the selection.
    resent = '//tbody//td[normalize-space(.)="yes"]'
    browser.wait(lambda: browser.driver.find_elements("xpath", resent))
    browser.press("tbody .q-checkbox")
    browser.click("Send back")
    browser.shows("0 of 1 letter sent back, 1 were sent back before")
    assert len(values_of(console, topic_name)) == 2
