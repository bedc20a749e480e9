"""The produce path of a partition leader: verify with the coordinator, then append."""

from dataclasses import dataclass

from support.transactions.node import CoordinatorNode
from support.transactions.partition import Batch, ModelPartition
from support.transactions.world import Respond, World

from barnabas.model.error_codes import ErrorCode
from barnabas.transactions.requests import AddPartitions, AddPartitionsReply, verification_error


@dataclass(frozen=True)
class Produce:
    """One transactional batch for one partition; version 12 means transaction version 2."""

    transactional_id: str
    batch: Batch
    version: int


class PartitionLeader:
    def __init__(self, world: World, partition: ModelPartition, node: CoordinatorNode) -> None:
        self.world = world
        self.partition = partition
        self.node = node

    def serve(self, produce: Produce, respond: Respond) -> None:
        if self.world.chance(0.3):
            self.partition.restart()
        batch = produce.batch
        token = self.partition.verification.begin(
            batch.producer_id,
            batch.producer_epoch,
            batch.sequence,
            transaction_open=self.partition.transaction_open(batch),
            now_ms=self.world.now_ms,
        )
        if token is None:
            respond(self.partition.append(batch, None))
            return

        def answered(reply: AddPartitionsReply | None) -> None:
            error = self._error_of(reply)
            if error:
                respond(verification_error("Produce", produce.version, error))
            else:
                respond(self.partition.append(batch, token))

        self._ask(produce, answered)

    def _error_of(self, reply: AddPartitionsReply | None) -> ErrorCode:
        if reply is None:
            return ErrorCode.NETWORK_EXCEPTION
        return reply.partitions[self.partition.topic_partition]

    def _ask(self, produce: Produce, answered: Respond) -> None:
        implicit = produce.version >= 12
        target = self.partition.topic_partition
        request = AddPartitions(
            produce.transactional_id,
            produce.batch.producer_id,
            produce.batch.producer_epoch,
            frozenset({target}),
            verify_only=not implicit,
            transaction_version=2 if implicit else 0,
        )
        away = ErrorCode.NOT_COORDINATOR
        refused = AddPartitionsReply(away, {target: away})
        self.world.call(
            lambda respond: self.node.serve("add_partitions", request, respond, refused), answered
        )
