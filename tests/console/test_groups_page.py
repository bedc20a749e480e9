"""The pages of groups in a real browser."""

import pytest
from support.console.browser import NARROW

from barnabas import Consumer, Producer, TopicPartition


@pytest.fixture
def group(broker, topic_name, admin):
    """A running member, and records that it has not read."""
    admin.create_topic(topic_name, partitions=3)
    servers = {"bootstrap.servers": broker.bootstrap_servers}
    with Producer(servers) as producer:
        for number in range(30):
            producer.send(topic_name, str(number), partition=number % 3)
    name = f"readers-{topic_name}"
    with Consumer(
        servers, group_id=name, auto_offset_reset="earliest", client_id="reader-1"
    ) as consumer:
        consumer.subscribe([topic_name])
        seen = 0
        while seen < 30:
            seen += sum(len(batch) for batch in consumer.poll(timeout=5.0).values())
        consumer.commit()
        with Producer(servers) as producer:
            for number in range(12):
                producer.send(topic_name, str(number), partition=number % 3)
        yield name, consumer


def test_groups_are_listed_with_lag(browser, group):
    name, _ = group
    browser.open("/groups")
    browser.fill("Search", name)
    browser.shows(name)
    browser.shows("Stable")
    browser.picture("groups")


def test_a_group_shows_partitions_members_and_rebalances(browser, group):
    name, _ = group
    browser.open(f"/groups/{name}")
    browser.shows("Lag in time")
    assert browser.driver.title == f"{name} · Barnabas"
    browser.wait(lambda: browser.find('[data-fact="Lag"]').text == "12")
    browser.picture("group")
    browser.tab("Members")
    browser.shows("reader-1@127.0.0.1")
    browser.picture("group-members")
    browser.tab("Rebalances")
    browser.shows("Generation 1: 1 joined; 1 member")
    browser.picture("group-rebalances")


def test_a_group_page_fits_narrow_windows(browser, group):
    name, _ = group
    browser.resize(NARROW)
    browser.open(f"/groups/{name}")
    browser.shows("Lag in time")
    browser.picture("group-narrow")
    browser.fits()


def test_offsets_are_reset_after_a_preview(browser, group, admin):
    name, consumer = group
    browser.open(f"/groups/{name}")
    browser.click("Reset offsets")
    browser.shows("30 records would be read again, 0 skipped")
    browser.shows("has 1 member; stop them first")
    consumer.close()
    browser.run_action()
    browser.shows("Offsets were reset")
    offsets = admin.list_group_offsets([name])[name]
    assert {at.offset for at in offsets.values()} == {0}


def test_a_member_is_removed(browser, group, admin):
    name, _ = group
    browser.open(f"/groups/{name}")
    browser.tab("Members")
    browser.click("Remove this member")
    browser.picture("group-remove-member")
    browser.click("Copy as Python")
    browser.shows("admin.remove_group_members(")
    browser.run_action()
    browser.shows("Member removed")
    browser.shows("No members")
    assert admin.describe_group(name).members == ()
    browser.tab("Rebalances")
    browser.click("Read again")
    browser.shows("1 left; 0 members")


def test_a_group_is_deleted_after_its_name_was_typed(browser, group, admin):
    name, consumer = group
    consumer.close()
    browser.open(f"/groups/{name}")
    browser.click("Delete group")
    browser.fill(f"Type {name} to confirm", name)
    browser.shows("Copy as CLI")
    browser.picture("group-delete")
    browser.run_action()
    browser.wait(lambda: browser.driver.current_url.endswith("/groups"))
    assert name not in [item.group_id for item in admin.list_groups()]


def test_an_unknown_group_shows_the_error(browser):
    browser.open("/groups/nobody-reads")
    browser.shows("GROUP_ID_NOT_FOUND")
    browser.picture("group-unknown")


def test_a_group_id_may_have_any_characters(browser, admin, topic_name):
    admin.create_topic(topic_name)
    name = f"team/events?x#<b>{topic_name}"
    admin.alter_group_offsets(name, {TopicPartition(topic_name, 0): 0}).check()
    browser.open("/groups")
    browser.fill("Search", topic_name)
    browser.link(name)
    browser.wait(lambda: browser.find("main[data-ready] h1").text == name)
    browser.shows("Lag in time")
