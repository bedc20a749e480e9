"""The pages of records in a real browser."""

from support.console.browser import NARROW

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
    assert browser.overflow() <= 0


def test_dead_letters_are_sent_back(browser, console, topic_name):
    dead = f"{topic_name}.dlq"
    write(console, topic_name, ["v"])
    console.api("POST", "/topics", {"name": dead, "partitions": 1})
    headers = [
        {"name": "dlq.topic", "value": topic_name},
        {"name": "dlq.error.class", "value": "ValueError"},
        {"name": "dlq.error.message", "value": HOSTILE},
    ]
    records = {"records": [{"value": "broken", "headers": headers}]}
    console.api("POST", f"/topics/{dead}/records", records)
    browser.open(f"/dead-letters?topic={dead}")
    browser.shows("ValueError")
    browser.press("tbody .q-checkbox")
    browser.picture("dead-letters")
    browser.click("Send back")
    browser.shows("1 of 1 letter sent back")
    page = console.api("GET", f"/topics/{topic_name}/records")
    assert "broken" in [item["value"]["text"] for item in page["items"]]
