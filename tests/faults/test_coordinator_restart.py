"""Groups and transactions of a broker after a stop or a kill and a restart.

Every history runs twice: over a clean stop and over SIGKILL of a broker process.
"""

import asyncio

import pytest
from support.cluster.broker_process import BrokerProcess
from support.groups.requests import (
    SMALL,
    alone,
    commit,
    committed,
    find_coordinator,
    heartbeat,
    join,
    sync,
)
from support.network.requests import batch, create_topic, fetch, list_offset, produce
from support.transactions.requests import TxnPeer
from support.wire.peer import WirePeer

from barnabas.model.error_codes import ErrorCode
from barnabas.records.reader import decode_records
from barnabas.testing import Broker
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest
from barnabas.wire.messages.describe_transactions import DescribeTransactionsRequest
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest

pytestmark = pytest.mark.faults
COMMITTED = 1


class CleanStop:
    """The broker in a thread, stopped in order."""

    def __init__(self, data_dir):
        self._data_dir = data_dir
        self._broker = None

    def start(self):
        self._broker = Broker(data_dir=self._data_dir).start()
        return self._broker.port

    def end(self):
        self._broker.stop()


class Kill:
    """The broker as a process, killed."""

    def __init__(self, data_dir):
        settings = [f"{key}={value}" for key, value in SMALL.items()]
        self._process = BrokerProcess(data_dir, *(a for one in settings for a in ("-X", one)))

    def start(self):
        self._process.start()
        return self._process.port

    def end(self):
        self._process.kill()


class World:
    """A broker that may be restarted, and one peer of it."""

    def __init__(self, broker):
        self._broker = broker
        self.peer = None

    async def begin(self):
        port = await asyncio.to_thread(self._broker.start)
        self.peer = await WirePeer.connect(port)

    async def end(self):
        await self.peer.close()
        await asyncio.to_thread(self._broker.end)

    async def restart(self):
        """Come back, and wait until both coordinators have loaded."""
        await self.end()
        await self.begin()
        while await heartbeat(self.peer, "nobody", 1, group="none") != ErrorCode.UNKNOWN_MEMBER_ID:
            await asyncio.sleep(0.02)
        request = DescribeTransactionsRequest(["none"])
        loading = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
        while (await self.peer.call(request, 0)).transaction_states[0].error_code in loading:
            await asyncio.sleep(0.02)


@pytest.fixture(params=[CleanStop, Kill], ids=["clean", "killed"])
async def world(request, tmp_path):
    world = World(request.param(tmp_path / "data"))
    await world.begin()
    await find_coordinator(world.peer, "g")
    await find_coordinator(world.peer, "x", kind=1)
    await create_topic(world.peer, "t", 2)
    yield world
    await world.end()


async def read_committed(peer):
    answer = await fetch(peer, "t", 0, isolation_level=COMMITTED)
    aborted = [(one.producer_id, one.first_offset) for one in answer.aborted_transactions or ()]
    records = decode_records(answer.records, "t", 0, aborted=aborted).records
    return [record.value for record in records]


async def test_members_go_on_without_a_rebalance(world):
    member, generation = await alone(world.peer)
    await world.restart()
    assert await heartbeat(world.peer, member, generation) == 0
    fields = {"generation_id_or_member_epoch": generation, "member_id": member}
    assert await commit(world.peer, "t", 9, **fields) == 0
    group = (await world.peer.call(DescribeGroupsRequest(["g"]), 5)).groups[0]
    assert (group.group_state, group.members[0].member_assignment) == ("Stable", b"all")


async def test_static_members_keep_their_place(world):
    """KAFKA-10284: the member id of an instance must be stored before it is sent."""
    _, generation = await alone(world.peer, instance="i")
    joined = await join(world.peer, instance="i")
    assert joined.generation_id == generation
    await world.restart()
    code = await heartbeat(world.peer, joined.member_id, generation, group_instance_id="i")
    assert code == 0
    code = await heartbeat(world.peer, "older", generation, group_instance_id="i")
    assert code == ErrorCode.FENCED_INSTANCE_ID


async def test_a_rebalance_that_was_not_finished_begins_again(world):
    joined = await join(world.peer)
    await world.restart()
    code = (await sync(world.peer, joined.member_id, joined.generation_id)).error_code
    assert code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.REBALANCE_IN_PROGRESS)
    await alone(world.peer)


async def test_offsets_are_as_they_were(world):
    for offset in range(100):
        assert await commit(world.peer, "t", offset) == 0
    assert await commit(world.peer, "t", 7, partition=1, group="other", version=5) == 0
    await world.restart()
    found = await committed(world.peer, "t")
    assert (found.committed_offset, found.committed_leader_epoch) == (99, 3)
    assert found.metadata == "note"
    found = await committed(world.peer, "t", partition=1, group="other")
    assert (found.committed_offset, found.committed_leader_epoch) == (7, -1)


async def test_members_of_the_new_protocol_keep_epoch_and_assignment(world):
    first = ConsumerGroupHeartbeatRequest(
        "new", "member-1", 0, rebalance_timeout_ms=5000, subscribed_topic_names=["t"]
    )
    first.topic_partitions = []
    answer = await world.peer.call(first, 1)
    assert answer.error_code == 0, answer
    owned = answer.assignment.topic_partitions
    assert sorted(owned[0].partitions) == [0, 1]
    await world.restart()
    beat = ConsumerGroupHeartbeatRequest("new", "member-1", answer.member_epoch)
    beat.topic_partitions = [TopicPartitions(owned[0].topic_id, owned[0].partitions)]
    again = await world.peer.call(beat, 1)
    assert (again.error_code, again.member_epoch) == (0, answer.member_epoch)


async def test_open_transaction_goes_on(world):
    txn = TxnPeer(world.peer)
    assert await txn.init() == 0
    await txn.add("t")
    assert await txn.write("t", b"before") == 0
    await txn.add_offsets("g")
    assert await txn.commit_offset("g", "t", 5) == 0
    await world.restart()
    txn.peer = world.peer
    unstable = await committed(world.peer, "t", require_stable=True)
    assert unstable.error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert await read_committed(world.peer) == []
    assert await txn.write("t", b"after") == 0
    assert await txn.end(commit=True) == 0
    assert await read_committed(world.peer) == [b"before", b"after"]
    assert (await committed(world.peer, "t")).committed_offset == 5


async def test_open_transaction_of_the_second_protocol_goes_on(world):
    txn = TxnPeer(world.peer)
    assert await txn.init(version=5) == 0
    assert await txn.write("t", b"1", version=12) == 0
    await world.restart()
    txn.peer = world.peer
    assert await txn.write("t", b"2", version=12) == 0
    assert await txn.end(commit=True, version=5) == 0
    await world.restart()
    txn.peer = world.peer
    assert await txn.write("t", b"3", version=12) == 0
    assert await txn.end(commit=False, version=5) == 0
    assert await read_committed(world.peer) == [b"1", b"2"]


async def test_aborted_records_stay_hidden(world):
    txn = TxnPeer(world.peer)
    assert await txn.init() == 0
    for commit_it in (False, True, False):
        await txn.add("t")
        await txn.write("t", b"kept" if commit_it else b"dropped")
        assert await txn.end(commit=commit_it) == 0
    await world.restart()
    assert await read_committed(world.peer) == [b"kept"]
    end = await list_offset(world.peer, "t", -1)
    stable = await list_offset(world.peer, "t", -1, isolation_level=COMMITTED)
    assert end.offset == stable.offset == 6


async def test_epochs_go_up_and_zombies_stay_fenced(world):
    zombie = TxnPeer(world.peer)
    assert await zombie.init() == 0
    await zombie.add("t")
    await zombie.write("t", b"zombie")
    successor = TxnPeer(world.peer)
    assert await successor.init() == 0
    await world.restart()
    zombie.peer = successor.peer = world.peer
    assert await zombie.write("t", b"late") == ErrorCode.INVALID_PRODUCER_EPOCH
    assert await zombie.end(commit=True) == ErrorCode.PRODUCER_FENCED
    third = TxnPeer(world.peer)
    assert await third.init() == 0
    assert (third.producer_id, third.epoch) == (successor.producer_id, successor.epoch + 1)
    assert await read_committed(world.peer) == []


async def test_sequences_of_idempotent_producers_are_remembered(world):
    answer = await world.peer.call(InitProducerIdRequest(None), 4)
    options = {"producer_id": answer.producer_id, "producer_epoch": 0}
    first = batch(b"a", base_sequence=0, **options)
    again = batch(b"a", base_sequence=0, **options)
    assert (await produce(world.peer, "t", first)).base_offset == 0
    await world.restart()
    repeated = await produce(world.peer, "t", again)
    assert (repeated.error_code, repeated.base_offset) == (0, 0)
    second = batch(b"b", base_sequence=1, **options)
    assert (await produce(world.peer, "t", second)).base_offset == 1
    fresh = await world.peer.call(InitProducerIdRequest(None), 4)
    assert fresh.producer_id > answer.producer_id
