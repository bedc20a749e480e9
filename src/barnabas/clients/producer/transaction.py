"""The transaction state of a producer, and its requests to the transaction coordinator.

A call that the current state does not allow raises LocalError. After an abortable error the caller
aborts the transaction and continues; a fatal one (another producer has taken over) is final.

There are two protocols. Before the second part of KIP-890 the producer adds each partition to the
transaction at the coordinator before its first batch. With the feature `transaction.version` 2 the
broker does that, and the response that ends a transaction has the epoch of the next one.
"""

import asyncio
import enum
from collections.abc import Awaitable, Callable, Mapping, Set
from functools import partial

from barnabas.clients.core.client import GROUP, TRANSACTION, KafkaClient
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.clients.producer.transaction_requests import (
    add_offsets_request,
    add_partitions_request,
    end_request,
    init_request,
    last_version,
    partition_errors,
    txn_offset_commit_request,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, LocalError, UnavailableError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import GroupMetadata, OffsetAndMetadata
from barnabas.wire.message import Message, Request, ResponseT

TRANSACTION_VERSION_FEATURE = "transaction.version"

_COORDINATOR_MOVED = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
_FATAL = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    }
)


class ProducerTransactionState(enum.Enum):
    """The state of a transactional producer."""

    UNINITIALIZED = "init_transactions() was not called"
    READY = "no transaction is open"
    OPEN = "a transaction is open"
    ENDING = "the transaction is being committed or aborted"
    ABORTABLE = "the transaction has failed and must be aborted"
    FATAL = (
        "another producer has taken over, the transaction took longer than transaction.timeout.ms, "
        "or the broker rejects this producer: create a new one"
    )


class Transaction:
    """The transaction state of a producer. Owned by the client's loop."""

    def __init__(
        self, settings: ProducerSettings, client: KafkaClient, identity: ProducerIdentity
    ) -> None:
        assert settings.transactional_id is not None
        self.state = ProducerTransactionState.UNINITIALIZED
        self._id = settings.transactional_id
        self._settings = settings
        self._client = client
        self._identity = identity
        self._loop = asyncio.get_running_loop()
        self._error: BarnabasError | None = None
        self._added: set[TopicPartition] = set()
        self._pending: set[TopicPartition] = set()
        self._adding: asyncio.Task[None] | None = None
        self._started = False
        self._implicit = False
        self.on_progress: Callable[[], None] = lambda: None
        self.on_failure: Callable[[], None] = lambda: None

    @property
    def is_open(self) -> bool:
        """Whether a transaction is open, failed or not, that must be ended."""
        return self.state in (ProducerTransactionState.OPEN, ProducerTransactionState.ABORTABLE)

    # -- calls of the sender -------------------------------------------------------------------

    def may_send(self, topic_partition: TopicPartition) -> bool:
        """Whether the partition is part of the transaction; starts adding it if it is not."""
        if self.state not in (ProducerTransactionState.OPEN, ProducerTransactionState.ENDING):
            return False
        if self._implicit:
            self._started = True
            return True
        if topic_partition in self._added:
            return True
        self._pending.add(topic_partition)
        if self._adding is None:
            self._adding = self._loop.create_task(self._add_pending())
        return False

    def last_version(self, request: type[Message]) -> int | None:
        """Returns the last version of a request that the cluster's transaction.version allows."""
        return last_version(request, implicit=self._implicit)

    def batch_failed(self, error: BarnabasError) -> None:
        """Marks the transaction as failed: it can only be aborted."""
        # From a partition leader this error is abortable; from the coordinator it is fatal.
        self._fail(error, _FATAL - {ErrorCode.INVALID_TXN_STATE})

    # -- the caller's steps --------------------------------------------------------------------

    async def init(self, timeout_s: float) -> None:
        """Fetches id and epoch; the coordinator ends an open transaction of the same id."""
        self._require(ProducerTransactionState.UNINITIALIZED, ProducerTransactionState.READY)
        request = init_request(self._id, self._settings.transaction_timeout_ms)

        async def attempt() -> None:
            response = await self._coordinate(request)
            self._raise_for(response.error_code)
            self._identity.adopt(response.producer_id, response.producer_epoch)

        await self._retry_until(attempt, timeout_s, "init_transactions")
        connection = await self._client.connection(
            await self._client.coordinator(TRANSACTION, self._id)
        )
        self._implicit = connection.features.get(TRANSACTION_VERSION_FEATURE, 0) >= 2
        self.state = ProducerTransactionState.READY

    def begin(self) -> None:
        self._require(ProducerTransactionState.READY)
        self._added.clear()
        self._pending.clear()
        self._started = False
        self.state = ProducerTransactionState.OPEN

    async def send_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        group: GroupMetadata,
        timeout_s: float,
    ) -> None:
        """Adds a consumer's offsets to the transaction (KIP-447)."""
        self._require(ProducerTransactionState.OPEN)
        self._started = True
        identity = (self._identity.producer_id, self._identity.producer_epoch)

        async def add_offsets() -> None:
            response = await self._coordinate(add_offsets_request(self._id, identity, group))
            self._raise_for(response.error_code)

        async def store() -> None:
            request = txn_offset_commit_request(self._id, identity, group, offsets)
            try:
                response = await self._client.send_to_coordinator(
                    GROUP, group.group_id, request, max_version=self.last_version(type(request))
                )
                for code in partition_errors(response):
                    self._raise_for(code)
            except BarnabasError:
                self._client.forget_coordinator(GROUP, group.group_id)
                raise

        if not self._implicit:
            await self._retry_until(add_offsets, timeout_s, "adding a group to the transaction")
        await self._retry_until(store, timeout_s, "committing offsets in the transaction")

    async def end(self, commit: bool, timeout_s: float) -> None:
        """Commits or aborts. Every batch of the transaction must be completed."""
        allowed = (
            [ProducerTransactionState.OPEN]
            if commit
            else [
                ProducerTransactionState.OPEN,
                ProducerTransactionState.ABORTABLE,
            ]
        )
        self._require(*allowed)
        failed = self.state is ProducerTransactionState.ABORTABLE
        self.state = ProducerTransactionState.ENDING
        if self._started or self._added:
            try:
                await self._retry_until(
                    lambda: self._end(commit), timeout_s, "ending the transaction"
                )
            except BarnabasError as error:
                if self.state is ProducerTransactionState.ENDING:
                    # The outcome is unknown: the caller may only retry the same call.
                    self.state = ProducerTransactionState.OPEN if error.retriable else self.state
                raise
        if failed and not self._implicit:
            await self._new_epoch(timeout_s)
        self._error = None
        self.state = ProducerTransactionState.READY

    # -- private ------------------------------------------------------------------------------

    async def _end(self, commit: bool) -> None:
        identity = (self._identity.producer_id, self._identity.producer_epoch)
        response = await self._coordinate(end_request(self._id, identity, commit))
        self._raise_for(response.error_code)
        if response.producer_id >= 0:
            self._identity.adopt(response.producer_id, response.producer_epoch)

    async def _new_epoch(self, timeout_s: float) -> None:
        """Fetches a new epoch: failed batches have left gaps in the sequences (KIP-360)."""
        request = init_request(
            self._id,
            self._settings.transaction_timeout_ms,
            (self._identity.producer_id, self._identity.producer_epoch),
        )

        async def attempt() -> None:
            response = await self._coordinate(request)
            self._raise_for(response.error_code)
            self._identity.adopt(response.producer_id, response.producer_epoch)

        await self._retry_until(attempt, timeout_s, "beginning a new epoch")

    async def _add_pending(self) -> None:
        try:
            while self._pending:
                topic_partitions = set(self._pending)
                await self._retry_until(
                    partial(self._add, topic_partitions), 60.0, "adding partitions"
                )
                self._added |= topic_partitions
                self._pending -= topic_partitions
        except BarnabasError as error:
            self._fail(error)
        finally:
            self._adding = None
            self.on_progress()

    async def _add(self, topic_partitions: set[TopicPartition]) -> None:
        identity = (self._identity.producer_id, self._identity.producer_epoch)
        response = await self._coordinate(
            add_partitions_request(self._id, identity, topic_partitions)
        )
        for code in partition_errors(response):
            self._raise_for(code)

    async def _coordinate(self, request: Request[ResponseT]) -> ResponseT:
        try:
            return await self._client.send_to_coordinator(
                TRANSACTION, self._id, request, max_version=self.last_version(type(request))
            )
        except UnavailableError:
            self._client.forget_coordinator(TRANSACTION, self._id)
            raise

    async def _retry_until(
        self, step: Callable[[], Awaitable[None]], timeout_s: float, what: str
    ) -> None:
        deadline_s = asyncio.get_running_loop().time() + timeout_s
        try:
            await self._client.retry(step, deadline_s, what)
        except BrokerError as error:
            if error.code in _FATAL:
                self._error = error
                self.state = ProducerTransactionState.FATAL
                self.on_failure()
            raise

    def _raise_for(self, error_code: int) -> None:
        if not error_code:
            return
        code = ErrorCode.of(error_code)
        if code in _COORDINATOR_MOVED:
            self._client.forget_coordinator(TRANSACTION, self._id)
        raise BrokerError(code)

    def _fail(self, error: BarnabasError, final: Set[ErrorCode] = _FATAL) -> None:
        fatal = isinstance(error, BrokerError) and error.code in final
        if self.state is not ProducerTransactionState.FATAL:
            self.state = (
                ProducerTransactionState.FATAL if fatal else ProducerTransactionState.ABORTABLE
            )
            self._error = error
            self.on_failure()

    def _require(self, *allowed: ProducerTransactionState) -> None:
        if self.state in allowed:
            return
        cause = f" ({self._error})" if self._error is not None else ""
        raise LocalError(f"the call is not allowed now: {self.state.value}{cause}")

    def check_open(self) -> None:
        """Raises LocalError unless a transaction is open."""
        self._require(ProducerTransactionState.OPEN)
