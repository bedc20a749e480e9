"""Questions to the leaders of remote partitions: ends, timestamps, failures."""

from types import SimpleNamespace

from barnabas.broker.cluster.leader_queries import RequestedLeaders
from barnabas.broker.metrics.lag import LogBounds
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.records.builder import BatchBuilder
from barnabas.wire.messages import fetch, list_offsets

ORDERS = [TopicPartition("orders", n) for n in range(4)]
START, END = 5, 50


def batch(timestamp, size):
    builder = BatchBuilder()
    builder.append(None, b"x" * size, timestamp_ms=timestamp)
    return bytes(builder.build())


class Leader:
    """Leads logs whose batch at offset n has the timestamp 1000 * n; large ones as in `large`."""

    def __init__(self, large=()):
        self.large = set(large)
        self.fetches = 0
        self.reachable = True

    async def request(self, request, *, version=None, timeout_s=None):
        if not self.reachable:
            raise UnavailableError("the broker cannot be reached")
        if isinstance(request, list_offsets.ListOffsetsRequest):
            return self._offsets(request)
        self.fetches += 1
        return self._records(request)

    def _offsets(self, request):
        topics = [
            list_offsets.ListOffsetsTopicResponse(
                topic.name,
                [
                    list_offsets.ListOffsetsPartitionResponse(
                        item.partition_index, offset=START if item.timestamp == -2 else END
                    )
                    for item in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return list_offsets.ListOffsetsResponse(topics=topics)

    def _records(self, request):
        """Returns whole batches within the limit of a partition, and the first one in any case."""
        answers, first = [], True
        for item in request.topics[0].partitions:
            size = 100_000 if item.fetch_offset in self.large else 10
            data = batch(1000 * item.fetch_offset, size)
            fits = first or len(data) <= item.partition_max_bytes
            answers.append(
                fetch.PartitionData(partition_index=item.partition, records=data if fits else b"")
            )
            first = False
        responses = [fetch.FetchableTopicResponse(topic="orders", partitions=answers)]
        return fetch.FetchResponse(responses=responses)


class Links:
    def __init__(self, leaders):
        self.leaders = leaders

    def to(self, broker_id):
        return self.leaders[broker_id]


def queries(leaders, leader_of=lambda _: 1):
    metadata = SimpleNamespace(
        partition=lambda topic_partition: SimpleNamespace(leader=leader_of(topic_partition))
    )
    return RequestedLeaders(metadata, Links(leaders))


async def test_the_ends_of_partitions_on_several_leaders():
    one, two = Leader(), Leader()
    leaders = {0: 1, 1: 2, 2: -1, 3: 1}
    asking = queries({1: one, 2: two}, lambda topic_partition: leaders[topic_partition.partition])
    found = await asking.bounds(ORDERS)
    assert found == {ORDERS[n]: LogBounds(START, END) for n in (0, 1, 3)}
    two.reachable = False
    assert set(await asking.bounds(ORDERS)) == {ORDERS[0], ORDERS[3]}


async def test_timestamps_of_many_partitions_need_one_request():
    leader = Leader()
    positions = [(topic_partition, 20 + topic_partition.partition) for topic_partition in ORDERS]
    found = await queries({1: leader}).timestamps(positions)
    assert found == {
        (topic_partition, offset): 1000 * offset for topic_partition, offset in positions
    }
    assert leader.fetches == 1


async def test_two_offsets_of_a_partition_and_large_batches_need_further_requests():
    leader = Leader(large=[30, 31, 32])
    positions = [
        (ORDERS[0], 10),
        (ORDERS[0], 11),
        *((topic_partition, 29 + topic_partition.partition) for topic_partition in ORDERS[1:]),
    ]
    found = await queries({1: leader}).timestamps(positions)
    assert found == {
        (topic_partition, offset): 1000 * offset for topic_partition, offset in positions
    }
    assert 1 < leader.fetches <= len(positions)


async def test_a_leader_that_cannot_be_reached_has_no_timestamps():
    leader = Leader()
    leader.reachable = False
    assert await queries({1: leader}).timestamps([(ORDERS[0], 10)]) == {}
