"""A transactional producer that sends single requests, in any version and order."""

import asyncio
from dataclasses import dataclass

from support.groups.requests import find_coordinator
from support.network.requests import batch, produce

from barnabas.runtime.clock import SystemClock
from barnabas.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from barnabas.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from barnabas.wire.messages.describe_transactions import DescribeTransactionsRequest
from barnabas.wire.messages.end_txn import EndTxnRequest
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest
from barnabas.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

CONCURRENT = 51
RETRIES = 1000


@dataclass
class TxnPeer:
    """One producer: its id, its epoch and the next sequence of every partition."""

    peer: object
    transactional_id: str = "x"
    producer_id: int = -1
    epoch: int = -1

    def __post_init__(self):
        self.sequences = {}

    async def init(self, *, version=4, timeout_ms=60_000, **fields):
        """Initialize, trying again while an older transaction is being ended."""
        await find_coordinator(self.peer, self.transactional_id, kind=1)
        for _ in range(RETRIES):
            answer = await self.peer.call(
                InitProducerIdRequest(self.transactional_id, timeout_ms, **fields), version
            )
            if answer.error_code != CONCURRENT:
                break
            await asyncio.sleep(0.01)
        if answer.error_code == 0:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences = {}
        return answer.error_code

    async def add(self, topic, *partitions, version=3):
        """The error of the first partition."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(topic, list(partitions or [0]))],
        )
        answer = await self.peer.call(request, version)
        first = answer.results_by_topic_v3_and_below[0].results_by_partition[0]
        return first.partition_error_code

    async def write(self, topic, *values, partition=0, version=11, sequence=None, topic_id=None):
        """Produce one transactional batch; the error."""
        place = (topic, partition)
        first = self.sequences.get(place, 0) if sequence is None else sequence
        records = batch(
            *values,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=first,
            transactional=True,
            # Of today, as markers are: with old ones the log would begin a new segment.
            timestamp_ms=SystemClock().now_ms(),
        )
        answer = await produce(
            self.peer,
            topic,
            records,
            partition=partition,
            version=version,
            transactional_id=self.transactional_id,
        )
        if answer.error_code == 0 and sequence is None:
            self.sequences[place] = first + len(values)
        return answer.error_code

    async def end(self, *, commit, version=4, epoch=None):
        """End the transaction and wait for its markers; a retry names its `epoch`.

        From version 5 on the response contains the next epoch.
        """
        used = self.epoch if epoch is None else epoch
        request = EndTxnRequest(self.transactional_id, self.producer_id, used, commit)
        answer = await self.peer.call(request, version)
        if answer.error_code == 0 and version >= 5 and epoch is None:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences = {}
        if answer.error_code == 0:
            await self._completed()
        return answer.error_code

    async def _completed(self):
        request = DescribeTransactionsRequest([self.transactional_id])
        for _ in range(RETRIES):
            state = (await self.peer.call(request, 0)).transaction_states[0]
            if not state.transaction_state.startswith("Prepare"):
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"not completed: {state}")

    async def add_offsets(self, group, *, version=3):
        request = AddOffsetsToTxnRequest(self.transactional_id, self.producer_id, self.epoch, group)
        return (await self.peer.call(request, version)).error_code

    async def commit_offset(self, group, topic, offset, *, partition=0, version=4, **fields):
        asked = [TxnOffsetCommitRequestPartition(partition, offset, 5, "in transaction")]
        request = TxnOffsetCommitRequest(
            self.transactional_id,
            group,
            self.producer_id,
            self.epoch,
            topics=[TxnOffsetCommitRequestTopic(topic, asked)],
            **fields,
        )
        return (await self.peer.call(request, version)).topics[0].partitions[0].error_code
