"""Records in Avro and Protobuf, decoded by a schema registry, in a real browser."""

import re

import pytest
from support.console.browser import new_browser
from support.console.process import ConsoleProcess
from support.console.registry import avro_order, framed, protobuf_order, registry

from barnabas import Producer


@pytest.fixture(scope="module")
def decoding(chromium, broker):
    """A console with a registry."""
    with registry() as url:
        running = ConsoleProcess(broker.bootstrap_servers, "--schema-registry", url)
        yield running
        running.stop()
        assert running.errors == ""


@pytest.fixture
def page(chromium, decoding):
    browser = new_browser(chromium, decoding.url)
    yield browser
    assert browser.errors() == []


@pytest.fixture
def orders(admin, broker, topic_name):
    """A topic with an order in Avro, one in Protobuf, and one with an unknown schema."""
    admin.create_topic(topic_name)
    with Producer({"bootstrap.servers": broker.bootstrap_servers}) as producer:
        values = (avro_order(7, "ada"), protobuf_order("<b>bob</b>"), framed(99, b"unknown"))
        for value in values:
            producer.send(topic_name, value)
    return topic_name


def test_values_are_decoded_by_their_schemas(page, orders):
    page.open(f"/topics/{orders}/records")
    page.shows('{"id": 7, "customer": "ada"}')
    page.shows('{"customer": "<b>bob</b>"}')
    page.picture("records-schema-registry")
    page.fill("Search for", "$.customer")
    page.choose("Search by", "JSON path")
    page.click("Search")
    page.shows("2 matches in 3 records")


def test_a_record_names_its_format_and_schema(page, orders):
    for offset, form in ((0, "avro"), (1, "protobuf")):
        page.open(f"/topics/{orders}/records/0/{offset}")
        shown = re.compile(rf"{form}, \d+ bytes, schema {offset + 1}")
        page.wait(lambda shown=shown: shown.search(page.text))
    page.picture("record-protobuf")
    page.open(f"/topics/{orders}/records/0/2")
    page.shows("schema 99 cannot be read from the registry")
    page.picture("record-unknown-schema")
