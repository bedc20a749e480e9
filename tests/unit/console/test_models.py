"""Pages of a list."""

from barnabas.console.models.common import ListQuery, select_page
from barnabas.console.models.topics import TopicSummary


def topic(name, size):
    return TopicSummary(
        name=name,
        internal=False,
        partitions=1,
        replication_factor=1,
        under_replicated=0,
        offline=0,
        size_bytes=size,
    )


TOPICS = [topic("b", 5), topic("a", None), topic("c", 9)]


def names(**query):
    return [item.name for item in select_page(TOPICS, ListQuery(**query), "name").items]


def test_pages_are_ordered_by_name_unless_a_field_is_given():
    assert names() == ["a", "b", "c"]
    assert names(sort="size_bytes", descending=True) == ["c", "b", "a"]


def test_items_without_a_value_come_last_in_both_directions():
    assert names(sort="size_bytes") == ["b", "c", "a"]


def test_an_unknown_field_is_sorted_like_the_default():
    assert names(sort="nothing") == ["a", "b", "c"]


def test_a_page_has_the_total_of_all_pages():
    page = select_page(TOPICS, ListQuery(offset=1, limit=1), "name")
    assert ([item.name for item in page.items], page.total) == (["b"], 3)
    assert select_page(TOPICS, ListQuery(offset=9), "name").items == []
