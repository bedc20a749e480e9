"""Floods of everything that a client can make a broker remember stay within the documented limits.

docs/promises.md ("What clients can make a broker keep") has the limits. The broker runs in a
process of its own; its memory is compared before and after a flood.
"""

import asyncio
import struct
from contextlib import AsyncExitStack, asynccontextmanager

import psutil
import pytest
from support.network.requests import batch, create_topic, fetch_request, produce_request
from support.wire.peer import WirePeer

from barnabas.broker.broker_process import BrokerProcess
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest
from barnabas.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

pytestmark = pytest.mark.faults

MB = 1 << 20
SPARE_BYTES = 24 * MB
WARM_UP = 1_000
"""Elements of a first flood, which loads the code and grows the buffers of the broker."""
SPARE_AFTER_WARM_UP = 4 * MB
"""Growth of a broker that has served some thousand requests, for buffers and modules."""
GROUP_MAX_BYTES = 16 * MB
MEMBER_BYTES = 500_000
MAX_PER_IP = 200
PIPELINED = 100


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    settings = {
        "max.connections.per.ip": MAX_PER_IP,
        "group.initial.rebalance.delay.ms": 0,
        "offsets.topic.num.partitions": 1,
        "offsets.topic.replication.factor": 1,
        "transaction.state.log.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
    }
    running = BrokerProcess(1, tmp_path_factory.mktemp("floods"), settings)
    running.launch()
    running.wait_until_ready()
    yield running
    running.terminate()


@asynccontextmanager
async def connected(broker):
    peer = await WirePeer.connect(broker.port)
    try:
        yield peer
    finally:
        await peer.close()


def memory(broker):
    return psutil.Process(broker.pid).memory_info().rss


async def flood(peer, requests, version):
    """Send all, `PIPELINED` at a time; gives the responses."""
    found = []
    for start in range(0, len(requests), PIPELINED):
        sent = [(r.API_KEY, peer.send(r, version)) for r in requests[start : start + PIPELINED]]
        found += [await peer.receive(key, version, n, timeout=60) for key, n in sent]
    return found


async def measured_flood(broker, peer, requests, version):
    """Sends all; returns the responses, and the growth of the memory after the warm-up."""
    found = await flood(peer, requests[:WARM_UP], version)
    before = memory(broker)
    found += await flood(peer, requests[WARM_UP:], version)
    grown = memory(broker) - before
    print(f"{grown / (len(requests) - WARM_UP):.0f} bytes each")
    return found, grown


async def ready(peer, topic):
    """Wait until the coordinators serve, and make a topic."""
    await create_topic(peer, topic)
    for key_type in (0, 1):
        await peer.call(FindCoordinatorRequest(key="first", key_type=key_type), 3)
    for _ in range(200):
        answer = await peer.call(InitProducerIdRequest("first", 60_000), 4)
        commit = await peer.call(commit_request("first", topic, "m"), 8)
        codes = {answer.error_code, commit.topics[0].partitions[0].error_code}
        if codes == {0}:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"no coordinator: {codes}")


def commit_request(group, topic, metadata):
    partition = OffsetCommitRequestPartition(0, 5, committed_metadata=metadata)
    topics = [OffsetCommitRequestTopic(name=topic, partitions=[partition])]
    return OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=topics
    )


async def until_disconnected(broker):
    """Waits until the broker has closed the connections of the tests before."""
    process = psutil.Process(broker.pid)
    async with asyncio.timeout(60):
        while any(c.raddr and c.laddr.port == broker.port for c in process.net_connections("tcp")):
            await asyncio.sleep(0.02)


async def test_connections(broker):
    """Those above the limit of an address are closed; the others are served."""
    await until_disconnected(broker)
    before = memory(broker)
    served = 0
    async with AsyncExitStack() as stack:
        for peer in [
            await stack.enter_async_context(connected(broker)) for _ in range(3 * MAX_PER_IP)
        ]:
            peer.writer.write(struct.pack(">ihhih", 10, 18, 0, 1, -1))
            try:
                await asyncio.wait_for(peer.reader.readexactly(4), 30)
                served += 1
            except (ConnectionError, asyncio.IncompleteReadError):
                continue
        assert served == MAX_PER_IP
        assert memory(broker) - before < SPARE_BYTES


async def join_is_refused(peer):
    """Joins group "big"; only the first member and those that do not fit get a response at once."""
    protocol = JoinGroupRequestProtocol("range", bytes(MEMBER_BYTES))
    # In version 3 a new member is taken at once, and waits for the others.
    peer.send(JoinGroupRequest("big", 60_000, 60_000, "", None, "consumer", [protocol]), 3)
    (code,) = struct.unpack_from(">h", await peer.receive_frame(), 8)
    return code == ErrorCode.GROUP_MAX_SIZE_REACHED


async def test_members_of_a_group(broker):
    """`group.max.bytes`: members that do not fit are rejected, however few they are.

    They join one after the other: requests that arrive together have buffers of their own.
    """
    before, joins = memory(broker), 60
    async with connected(broker) as observer, AsyncExitStack() as stack:
        await ready(observer, "members")
        peers = [await stack.enter_async_context(connected(broker)) for _ in range(joins)]
        answers = []
        members = refused = 0
        async with asyncio.timeout(120):
            for peer in peers:
                answers.append(asyncio.create_task(join_is_refused(peer)))
                while members + refused < len(answers):
                    await asyncio.sleep(0.005)
                    group = (await observer.call(DescribeGroupsRequest(["big"]), 5)).groups[0]
                    members = len(group.members)
                    refused = sum(answer.done() and answer.result() for answer in answers)
        for answer in answers:
            answer.cancel()
    assert 0 < members <= GROUP_MAX_BYTES // MEMBER_BYTES
    assert members + refused == joins
    assert memory(broker) - before < GROUP_MAX_BYTES + SPARE_BYTES


async def test_groups_and_commit_metadata(broker):
    groups, metadata = 4_000, "m" * 4096
    async with connected(broker) as peer:
        await ready(peer, "commits")
        requests = [commit_request(f"flood-{n}", "commits", metadata) for n in range(groups)]
        answers, grown = await measured_flood(broker, peer, requests, 8)
        codes = {a.topics[0].partitions[0].error_code for a in answers}
        large = await peer.call(commit_request("large", "commits", "m" * 4097), 8)
    assert codes == {0}
    assert large.topics[0].partitions[0].error_code == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert grown < (groups - WARM_UP) * (4096 + 1_000) + SPARE_AFTER_WARM_UP


async def test_transactional_ids(broker):
    count = 4_000
    async with connected(broker) as peer:
        await ready(peer, "ids")
        requests = [InitProducerIdRequest(f"flood-{n}", 60_000) for n in range(count)]
        answers, grown = await measured_flood(broker, peer, requests, 4)
    assert {answer.error_code for answer in answers} == {0}
    assert grown < (count - WARM_UP) * 2_000 + SPARE_AFTER_WARM_UP


async def test_producer_ids(broker):
    count = 5_000
    async with connected(broker) as peer:
        await create_topic(peer, "producers")
        requests = [
            produce_request(
                "producers", batch(b"x", producer_id=n, producer_epoch=0, base_sequence=0)
            )
            for n in range(count)
        ]
        answers, grown = await measured_flood(broker, peer, requests, 9)
    codes = {a.responses[0].partition_responses[0].error_code for a in answers}
    assert codes == {0}
    assert grown < (count - WARM_UP) * 1_000 + SPARE_AFTER_WARM_UP


async def test_fetch_sessions(broker):
    """1,000 sessions, and 300,000 partitions in all of them; others work without a session."""
    sessions, partitions = 200, 1_900
    async with connected(broker) as peer:
        await create_topic(peer, "sessions")
        before = memory(broker)
        asked = [
            FetchPartition(n, fetch_offset=0, partition_max_bytes=1) for n in range(partitions)
        ]
        topics = [FetchTopic(topic="unknown", partitions=asked)]
        large = [
            FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1, session_epoch=0, topics=topics)
            for _ in range(sessions)
        ]
        answers = [(await flood(peer, [request], 11))[0] for request in large]
        kept = sum(answer.session_id != 0 for answer in answers)
        # Fewer than were asked for: the limit of partitions was reached, not only that of sessions.
        assert 0 < kept < sessions
        assert kept * partitions <= 300_000
        small = [fetch_request("sessions", 0, session_epoch=0) for _ in range(1_200)]
        answers = await flood(peer, small, 11)
        assert 0 < sum(answer.session_id != 0 for answer in answers) <= 1_000
    assert memory(broker) - before < 300_000 * 400 + SPARE_BYTES
