"""10,000 topics with 100,000 partitions: a page of the list has 50 rows and needs no other read."""

from barnabas.admin import ClusterDescription, Node, PartitionDescription, TopicDescription
from barnabas.console.models.common import ListQuery
from barnabas.console.services.snapshots import ClusterSnapshot
from barnabas.console.services.topics import TopicService
from barnabas.model.ids import ZERO_UUID

PARTITIONS = tuple(
    PartitionDescription(index, index % 3, 0, (0, 1, 2), (0, 1, 2)) for index in range(10)
)


class FixedSnapshots:
    def __init__(self, snapshot):
        self.snapshot = snapshot

    async def current(self):
        return self.snapshot


class NoRates:
    topics = {}  # noqa: RUF012 - read-only
    committed = {}  # noqa: RUF012

    def touch(self):
        """Nothing is sampled."""


async def test_the_list_of_a_large_cluster_is_paged_sorted_and_searched():
    topics = {
        f"topic-{number:05}": TopicDescription(f"topic-{number:05}", ZERO_UUID, False, PARTITIONS)
        for number in range(10_000)
    }
    sizes = {name: index for index, name in enumerate(topics)}
    nodes = tuple(Node(number, "host", 9092, None) for number in range(3))
    snapshot = ClusterSnapshot(0.0, ClusterDescription("c", 0, nodes), topics, {}, sizes)
    service = TopicService(None, FixedSnapshots(snapshot), NoRates())
    largest = ListQuery(sort="size_bytes", descending=True, limit=50)
    page = await service.list_topics(largest, internal=False)
    assert (page.total, len(page.items), page.items[0].name) == (10_000, 50, "topic-09999")
    for unknown in ("model_fields", "copy", "__class__"):
        page = await service.list_topics(ListQuery(sort=unknown), internal=False)
        assert page.items[0].name == "topic-00000"
    found = await service.list_topics(ListQuery(search="0077"), internal=False)
    assert found.total == 11
