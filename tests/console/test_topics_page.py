"""The pages of topics in a real browser."""

from support.console.browser import NARROW


def test_topics_are_listed_created_and_searched(browser, admin, topic_name):
    browser.open("/topics")
    browser.click("Create topic")
    browser.fill("Name", topic_name)
    browser.fill("Partitions", "3")
    browser.click("Copy as CLI")
    browser.shows(f"barnabas topics create {topic_name} --partitions 3 --bootstrap-server ")
    browser.click("Copy as Python")
    browser.shows(f"admin.create_topic('{topic_name}', partitions=3)")
    browser.run_action()
    browser.shows("Topic created")
    browser.fill("Search", topic_name)
    browser.shows(topic_name)
    assert len(admin.describe_topic(topic_name).partitions) == 3
    browser.picture("topics-created")


def test_the_list_of_topics_fits_narrow_windows(browser, admin, topic_name):
    admin.create_topic(topic_name)
    browser.resize(NARROW)
    browser.open("/topics")
    browser.shows("Create topic")
    browser.picture("topics-narrow")
    browser.fits()


def test_a_wrong_field_and_an_error_of_the_cluster_are_shown(browser):
    browser.open("/topics")
    browser.click("Create topic")
    browser.run_action()
    browser.shows("The topic needs a name")
    browser.fill("Name", "two words")
    browser.run_action()
    browser.shows("INVALID_TOPIC_EXCEPTION")
