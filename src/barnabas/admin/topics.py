"""Topics: list, describe, create, delete, add partitions."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace

from barnabas.admin.config_types import ConfigValue, config_text
from barnabas.admin.fan_out import Outcome, listed, per_item
from barnabas.admin.results import Results, error_of
from barnabas.admin.session import AdminCalls, Deadline, operations_of
from barnabas.admin.topic_types import (
    BROKER_DEFAULT,
    CreatedTopic,
    NewPartitions,
    NewTopic,
    PartitionDescription,
    TopicDescription,
    TopicListing,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError
from barnabas.model.ids import ZERO_UUID, Uuid
from barnabas.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from barnabas.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseTopic,
)

DELETION_BY_ID = 6
METADATA_BY_ID = 12


class TopicCalls(AdminCalls):
    """Calls on topics."""

    async def list_topics(
        self, *, internal: bool = False, timeout: float | None = None
    ) -> list[TopicListing]:
        """Returns all topics sorted by name; internal topics only with `internal=True`."""
        deadline = self._deadline("list topics", timeout)
        response = await self._session.until(lambda: self._session.metadata(None), deadline)
        listings = (
            TopicListing(topic.name or "", topic.topic_id, topic.is_internal)
            for topic in response.topics
            if not topic.error_code and (internal or not topic.is_internal)
        )
        return sorted(listings, key=lambda listing: listing.name)

    async def describe_topics(
        self,
        topics: Iterable[str | Uuid] | None,
        *,
        include_operations: bool = False,
        timeout: float | None = None,
    ) -> Results[str | Uuid, TopicDescription]:
        """Describes the partitions, leaders and replicas of topics.

        Args:
            topics: names or topic ids; None for all topics, internal ones included.
            include_operations: include the operations that the caller is allowed to use.
        """
        deadline = self._deadline("describe topics", timeout)
        if topics is None:
            return await self._describe_all_topics(include_operations, deadline)

        async def attempt(pending: list[str | Uuid]) -> Outcome[str | Uuid, TopicDescription]:
            names = [item for item in pending if not isinstance(item, Uuid)]
            ids = [item for item in pending if isinstance(item, Uuid)]
            found: dict[str | Uuid, TopicDescription | BarnabasError] = {}
            if names and not include_operations:
                found.update(await self._describe_topic_names(names))
            elif names:
                found.update(await self._topics_from_metadata(names, operations=True))
            if ids:
                found.update(await self._topics_from_metadata(ids, operations=include_operations))
            return found

        return await per_item(self._session, topics, attempt, deadline)

    async def describe_topic(
        self, topic: str | Uuid, *, timeout: float | None = None
    ) -> TopicDescription:
        """Describes one topic; raises UNKNOWN_TOPIC_OR_PARTITION if it does not exist."""
        return (await self.describe_topics([topic], timeout=timeout))[topic]

    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, CreatedTopic]:
        """Creates topics.

        Args:
            topics: the topics with partitions, replication factor and configuration.
            validate_only: return what would be created without creating it.

        >>> topics = [NewTopic("orders", partitions=3), NewTopic("invoices")]
        >>> admin.create_topics(topics).check()                      # doctest: +SKIP
        """
        wanted = {topic.name: topic for topic in listed(topics, NewTopic)}
        deadline = self._deadline("create topics", timeout)

        async def attempt(pending: list[str]) -> Outcome[str, CreatedTopic]:
            request = CreateTopicsRequest(
                topics=[_creatable(wanted[name]) for name in pending],
                timeout_ms=deadline.left_ms,
                validate_only=validate_only,
            )
            response = await self._session.client.send_to_controller(request)
            return {item.name: error_of(item) or _created(item) for item in response.topics}

        return await per_item(self._session, wanted, attempt, deadline)

    async def create_topic(
        self,
        name: str,
        partitions: int = BROKER_DEFAULT,
        replication_factor: int = BROKER_DEFAULT,
        configs: Mapping[str, ConfigValue | None] | None = None,
        *,
        timeout: float | None = None,
    ) -> CreatedTopic:
        """Creates one topic.

        Args:
            name: the name of the topic.
            partitions: number of partitions (default: the broker's `num.partitions`).
            replication_factor: replicas per partition (default: the broker's setting).
            configs: topic configuration, for example `{"cleanup.policy": "compact"}`.

        Raises:
            BrokerError: the topic exists, or a name or value is invalid.

        >>> admin.create_topic("orders", partitions=3)                  # doctest: +SKIP
        """
        topic = NewTopic(name, partitions, replication_factor, configs or {})
        return (await self.create_topics([topic], timeout=timeout))[name]

    async def delete_topics(
        self, topics: Iterable[str | Uuid], *, timeout: float | None = None
    ) -> Results[str | Uuid, None]:
        """Deletes topics by name or topic id."""
        deadline = self._deadline("delete topics", timeout)

        async def attempt(pending: list[str | Uuid]) -> Outcome[str | Uuid, None]:
            names = [item for item in pending if not isinstance(item, Uuid)]
            request = DeleteTopicsRequest(
                topics=[_deletable(item) for item in pending],
                topic_names=names,
                timeout_ms=deadline.left_ms,
            )
            if len(names) < len(pending):
                controller = await self._session.controller()
                await self._session.require(
                    DeleteTopicsRequest, DELETION_BY_ID, "to delete topics by id", controller
                )
            response = await self._session.client.send_to_controller(request)
            by_id = {item for item in pending if isinstance(item, Uuid)}
            return {
                item.topic_id if item.topic_id in by_id else item.name or "": error_of(item)
                for item in response.responses
            }

        return await per_item(self._session, topics, attempt, deadline)

    async def delete_topic(self, topic: str | Uuid, *, timeout: float | None = None) -> None:
        """Deletes one topic; raises UNKNOWN_TOPIC_OR_PARTITION if it does not exist."""
        (await self.delete_topics([topic], timeout=timeout)).check()

    async def create_partitions(
        self,
        counts: Mapping[str, int | NewPartitions],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> Results[str, None]:
        """Adds partitions to topics.

        Args:
            counts: the new total number of partitions of each topic, or `NewPartitions`.
            validate_only: check the request without adding partitions.
        """
        deadline = self._deadline("create partitions", timeout)

        async def attempt(pending: list[str]) -> Outcome[str, None]:
            request = CreatePartitionsRequest(
                topics=[_grown(name, counts[name]) for name in pending],
                timeout_ms=deadline.left_ms,
                validate_only=validate_only,
            )
            response = await self._session.client.send_to_controller(request)
            return {item.name: error_of(item) for item in response.results}

        return await per_item(self._session, counts, attempt, deadline)

    # -- private ------------------------------------------------------------------------------

    async def _describe_all_topics(
        self, operations: bool, deadline: Deadline
    ) -> Results[str | Uuid, TopicDescription]:
        """Reads page by page: one response with 100,000 partitions would occupy both sides."""
        if not operations:
            found = await self._session.until(lambda: self._topics_if_paged([]), deadline)
            if found is not None:
                return Results(found)

        def read() -> Awaitable[MetadataResponse]:
            return self._session.metadata(None, operations=operations)

        response = await self._session.until(read, deadline)
        return Results({item.name or "": _description(item) for item in response.topics})

    async def _describe_topic_names(
        self, names: list[str]
    ) -> Outcome[str | Uuid, TopicDescription]:
        """Uses DescribeTopicPartitions page by page, or Metadata with older brokers."""
        found = await self._topics_if_paged(names)
        if found is not None:
            return found
        return await self._topics_from_metadata(names, operations=False)

    async def _topics_if_paged(
        self, names: list[str]
    ) -> Outcome[str | Uuid, TopicDescription] | None:
        """Returns None if the broker does not have DescribeTopicPartitions."""
        try:
            return await self._topics_by_page(names)
        except BrokerError as error:
            if error.code is not ErrorCode.UNSUPPORTED_VERSION:
                raise
            return None

    async def _topics_by_page(self, names: list[str]) -> Outcome[str | Uuid, TopicDescription]:
        """Describes topics; without names, all of them."""
        found: dict[str | Uuid, TopicDescription | BarnabasError] = {}
        cursor: Cursor | None = None
        left = sorted(names)
        while True:
            request = DescribeTopicPartitionsRequest(
                topics=[TopicRequest(name=name) for name in left], cursor=cursor
            )
            response: DescribeTopicPartitionsResponse = await self._session.client.send_to_any(
                request
            )
            for topic in response.topics:
                name = topic.name or ""
                found[name] = _continued(found.get(name), _description(topic))
            cursor = response.next_cursor
            if cursor is None:
                return found
            # Earlier pages contain the names before the cursor; to repeat them would cost time.
            left = [name for name in left if name >= cursor.topic_name]

    async def _topics_from_metadata(
        self, topics: Sequence[str | Uuid], *, operations: bool
    ) -> Outcome[str | Uuid, TopicDescription]:
        if any(isinstance(topic, Uuid) for topic in topics):
            what = "to describe topics by id"
            await self._session.require(MetadataRequest, METADATA_BY_ID, what)
        response = await self._session.metadata(topics, operations=operations)
        by_id = {item for item in topics if isinstance(item, Uuid)}
        return {
            item.topic_id if item.topic_id in by_id else (item.name or ""): _description(item)
            for item in response.topics
        }


def _creatable(topic: NewTopic) -> CreatableTopic:
    placed = bool(topic.assignments)
    return CreatableTopic(
        name=topic.name,
        num_partitions=BROKER_DEFAULT if placed else topic.partitions,
        replication_factor=BROKER_DEFAULT if placed else topic.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(brokers))
            for index, brokers in enumerate(topic.assignments)
        ],
        configs=[
            CreatableTopicConfig(name=name, value=config_text(value))
            for name, value in topic.configs.items()
        ],
    )


def _created(item: CreatableTopicResult) -> CreatedTopic:
    configs = {config.name: config.value for config in item.configs or ()}
    return CreatedTopic(
        item.name, item.topic_id, item.num_partitions, item.replication_factor, configs
    )


def _deletable(topic: str | Uuid) -> DeleteTopicState:
    if isinstance(topic, Uuid):
        return DeleteTopicState(name=None, topic_id=topic)
    return DeleteTopicState(name=topic, topic_id=ZERO_UUID)


def _grown(name: str, wanted: int | NewPartitions) -> CreatePartitionsTopic:
    new = NewPartitions(wanted) if isinstance(wanted, int) else wanted
    assignments = (
        None
        if new.assignments is None
        else [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in new.assignments]
    )
    return CreatePartitionsTopic(name=name, count=new.total, assignments=assignments)


def _description(
    topic: DescribeTopicPartitionsResponseTopic | MetadataResponseTopic,
) -> TopicDescription | BrokerError:
    error = error_of(topic)
    if error is not None:
        return BrokerError(error.code, f"topic {topic.name!r}: {error.code.explanation}")
    partitions = (
        PartitionDescription(
            item.partition_index,
            item.leader_id if item.leader_id >= 0 else None,
            item.leader_epoch,
            tuple(item.replica_nodes),
            tuple(item.isr_nodes),
            tuple(item.offline_replicas),
            _optional_tuple(getattr(item, "eligible_leader_replicas", None)),
            _optional_tuple(getattr(item, "last_known_elr", None)),
        )
        for item in topic.partitions
    )
    return TopicDescription(
        topic.name or "",
        topic.topic_id,
        topic.is_internal,
        tuple(sorted(partitions, key=lambda item: item.partition)),
        operations_of(topic.topic_authorized_operations),
    )


def _continued(
    before: TopicDescription | BarnabasError | None, page: TopicDescription | BrokerError
) -> TopicDescription | BarnabasError:
    """Returns a topic with the partitions of its next page."""
    if isinstance(before, TopicDescription) and isinstance(page, TopicDescription):
        return replace(before, partitions=before.partitions + page.partitions)
    return page


def _optional_tuple(replicas: list[int] | None) -> tuple[int, ...] | None:
    return None if replicas is None else tuple(replicas)
