"""The page of one topic in a real browser: picture, chart, configuration, every change."""

import pytest
from support.console.browser import NARROW

from barnabas import Consumer, Producer, TopicPartition

HOUR_MS = 3_600_000
START_MS = 1_700_000_000_000


@pytest.fixture
def topic(admin, broker, topic_name):
    """A topic with 3 partitions, 60 records in six hours, and a group that read some."""
    # The records are old: retention must not delete them during a slow test.
    admin.create_topic(topic_name, partitions=3, configs={"retention.ms": "-1"})
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    with Producer(settings) as producer:
        for number in range(60):
            producer.send(
                topic_name,
                value=b"%d" % number,
                partition=number % 3 if number < 45 else 0,
                timestamp=START_MS + (number // 10) * HOUR_MS,
            )
    with Consumer({**settings, "group.id": "billing", "enable.auto.commit": False}) as consumer:
        consumer.assign([(topic_name, 0)])
        consumer.commit({(topic_name, 0): 12})
    return topic_name


def test_partitions_groups_and_records_over_time(browser, topic):
    browser.open(f"/topics/{topic}")
    browser.shows("leader")
    browser.shows("0 to 30")
    browser.wait(lambda: browser.driver.find_elements("css selector", "main canvas"))
    browser.picture("topic-partitions")
    browser.resize(NARROW)
    browser.fits()
    browser.picture("topic-narrow")


def test_the_positions_of_groups_are_shown(browser, topic):
    """Passes when the page shows the lag of the group before the deadline."""

    def shown():
        browser.open(f"/topics/{topic}")
        return "billing: lag 18" in browser.text

    # Groups are in the sample of offsets, less often on a busy machine.
    browser.wait(shown, 100, every=1)


def test_a_brushed_range_is_named_and_leads_to_the_records(browser, topic):
    from selenium.webdriver import ActionChains

    browser.open(f"/topics/{topic}")
    canvas = browser.find("main canvas")
    browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    wide = canvas.size["width"]
    browser.wait(lambda: _brush_is_active(browser))
    drag = ActionChains(browser.driver).move_to_element_with_offset(canvas, -wide // 4, 10)
    drag.click_and_hold().move_by_offset(wide // 8, 0).move_by_offset(wide // 8, 0)
    drag.release().perform()
    browser.wait(lambda: browser.button("Show records").is_enabled())
    browser.shows("2023-11-1")
    browser.picture("topic-brush")
    browser.click("Zoom")


def test_the_configuration_is_changed_and_compared_with_the_default(browser, admin, topic):
    browser.open(f"/topics/{topic}")
    browser.fill("Search keys", "retention.ms")
    browser.click("Edit retention.ms")
    browser.fill("Value", "60000")
    browser.click("Copy as CLI")
    browser.shows(f"barnabas topics alter {topic} --config retention.ms=60000")
    browser.run_action()
    browser.shows("Changed")
    browser.shows("168 (log.retention.hours)")
    browser.shows("60000")


def test_partitions_are_added(browser, admin, topic):
    browser.open(f"/topics/{topic}")
    browser.click("Add partitions")
    browser.fill("New number of partitions", "2")
    browser.run_action()
    browser.shows("The new number must be greater than 3")
    browser.fill("New number of partitions", "5")
    browser.run_action()
    browser.shows("5 partitions")
    assert len(admin.describe_topic(topic).partitions) == 5


def test_records_are_deleted_after_the_name_was_typed(browser, admin, topic):
    browser.open(f"/topics/{topic}")
    browser.click("Delete records")
    browser.fill("Partition", "0")
    browser.fill("Delete before offset", "10")
    assert not browser.find(".q-dialog .run-action").is_enabled()
    browser.fill(f"Type {topic} to confirm", topic)
    browser.run_action()
    browser.shows("Records deleted")
    browser.shows("10 to 30")
    from barnabas.admin import EARLIEST

    start = TopicPartition(topic, 0)
    assert admin.list_offsets({start: EARLIEST})[start].offset == 10


def test_a_topic_is_deleted_after_its_name_was_typed(browser, admin, topic):
    browser.open(f"/topics/{topic}")
    browser.click("Delete topic")
    browser.fill(f"Type {topic} to confirm", topic[:-1])
    assert not browser.find(".q-dialog .run-action").is_enabled()
    browser.fill(f"Type {topic} to confirm", topic)
    browser.wait(lambda: browser.find(".q-dialog .run-action").is_enabled())
    browser.picture("topic-delete")
    browser.run_action()
    browser.wait(lambda: browser.driver.current_url.endswith("/topics"))
    assert topic not in [item.name for item in admin.list_topics()]


def test_an_unknown_topic_is_an_error_with_its_name(browser):
    browser.open("/topics/nothing")
    browser.shows("UNKNOWN_TOPIC_OR_PARTITION")
    browser.shows("Try again")


def _brush_is_active(browser):
    return browser.driver.execute_script(
        "const found = document.querySelector('main .nicegui-echart');"
        "const element = found && getElement(found.id.slice(1));"
        "const chart = element && element.chart;"
        "const model = chart && chart.getModel() && chart.getModel().getComponent('brush');"
        "return Boolean(model && model.brushType === 'lineX' && model.brushOption.brushType);"
    )
