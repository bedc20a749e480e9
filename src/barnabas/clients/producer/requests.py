"""Builds Produce requests: the version, and topic names or ids.

Two requests with one batch of the same partition differ only in the batch. The encoded bytes around
it are cached as a template, which shortens a synchronous send. A `SingleRoute` is the template with
the connection to the leader: with it a batch is sent without a message object.
"""

import struct
from typing import ClassVar, NamedTuple

from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.model.records import Codec
from barnabas.net.client import ClientConnection
from barnabas.records.batch import HEADER_SIZE
from barnabas.wire._produce_hot import FIRST_VERSION, LAST_VERSION, SingleBatchForm
from barnabas.wire.message import Message
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from barnabas.wire.primitives import Part, join_parts, uvarint

LAST_PRODUCE_BY_NAME = 12
_LENGTH = struct.Struct(">i")


class RequestTemplate(NamedTuple):
    """The encoded bytes before and after the batch, and the values they are valid for."""

    connection: ClientConnection
    topic_id: Uuid
    last_version: int | None
    version: int
    head: bytearray
    tail: bytes


class SingleRoute(NamedTuple):
    """The connection to a partition's leader, and the form of requests with one batch for it."""

    generation: int
    """The generation of the metadata with this leader."""
    node_id: int
    connection: ClientConnection
    form: SingleBatchForm


class SingleBatchRequest(Message):
    """A ProduceRequest with one batch, encoded with a template."""

    __slots__ = ("_records", "_template")
    API_KEY: ClassVar[int] = ProduceRequest.API_KEY

    def __init__(self, template: RequestTemplate, records: bytearray) -> None:
        self._template = template
        self._records = records

    def encode(self, version: int) -> list[Part]:
        template, size = self._template, len(self._records)
        return [template.head + records_length(size, version), self._records, template.tail]


class ProduceRequests:
    """Builds the requests of one producer; owned by the sender's loop."""

    def __init__(self, settings: ProducerSettings, metadata: ClusterMetadata) -> None:
        self._settings = settings
        self._metadata = metadata
        self._templates: dict[TopicPartition, RequestTemplate] = {}
        self._routes: dict[TopicPartition, SingleRoute] = {}
        # A route neither compresses nor serves transactions, and it expects a response.
        plain = settings.acks != 0 and settings.codec is Codec.NONE
        self._has_routes = plain and settings.transactional_id is None

    def route(self, topic_partition: TopicPartition) -> SingleRoute | None:
        """Returns the route of a partition's last request with one batch, if it is still valid."""
        route = self._routes.get(topic_partition)
        if route is None or route.generation != self._metadata.generation:
            return None
        return route if route.connection.ready else None

    def add_route(self, topic_partition: TopicPartition, node_id: int) -> None:
        """Adds a route by the template of the partition's last request."""
        template = self._templates.get(topic_partition)
        known = self._routes.get(topic_partition)
        if template is None or not self._has_routes:
            return
        wanted = (self._metadata.generation, node_id, template.connection)
        if known is not None and known[:3] == wanted:
            return
        if FIRST_VERSION <= template.version <= LAST_VERSION:
            head, tail = bytes(template.head), template.tail
            form = template.connection.single_form(template.version, head, tail)
            self._routes[topic_partition] = SingleRoute(*wanted, form)

    def make(
        self, batches: list[ProducerBatch], connection: ClientConnection, last_version: int | None
    ) -> tuple[Message, int]:
        """Returns a request with these batches, one per partition, and its version."""
        if len(batches) == 1:
            return self._single_batch(batches[0], connection, last_version)
        request = self._full_request([(batch.partition, batch.payload) for batch in batches])
        return request, self._version(request, connection, last_version)

    def _single_batch(
        self, batch: ProducerBatch, connection: ClientConnection, last_version: int | None
    ) -> tuple[Message, int]:
        assert batch.payload is not None
        template = self._template(batch.partition, connection, last_version)
        return SingleBatchRequest(template, batch.payload), template.version

    def _template(
        self,
        topic_partition: TopicPartition,
        connection: ClientConnection,
        last_version: int | None,
    ) -> RequestTemplate:
        """Returns the bytes around the single batch of a request, encoding them if needed."""
        template = self._templates.get(topic_partition)
        topic_id = self._metadata.topics[topic_partition.topic].topic_id
        if template is None or template[:3] != (connection, topic_id, last_version):
            records = bytearray(HEADER_SIZE)  # the size of an empty batch
            request = self._full_request([(topic_partition, records)])
            version = self._version(request, connection, last_version)
            head, tail = _split_around(request.encode(version), records, version)
            template = RequestTemplate(connection, topic_id, last_version, version, head, tail)
            self._templates[topic_partition] = template
        return template

    def _version(
        self, request: ProduceRequest, connection: ClientConnection, last_version: int | None
    ) -> int:
        version = connection.version_of(ProduceRequest)
        if any(topic.topic_id == ZERO_UUID for topic in request.topic_data):
            version = min(version, LAST_PRODUCE_BY_NAME)
        return version if last_version is None else min(version, last_version)

    def _full_request(
        self, batches: "list[tuple[TopicPartition, bytearray | None]]"
    ) -> ProduceRequest:
        topics: dict[str, TopicProduceData] = {}
        for (name, partition), records in batches:
            topic = topics.get(name)
            if topic is None:
                topic_id = self._metadata.topics[name].topic_id
                topic = TopicProduceData(name=name, topic_id=topic_id, partition_data=[])
                topics[name] = topic
            topic.partition_data.append(PartitionProduceData(index=partition, records=records))
        return ProduceRequest(
            transactional_id=self._settings.transactional_id,
            acks=self._settings.acks,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=list(topics.values()),
        )


def records_length(size: int, version: int) -> bytes:
    """Returns the encoded length of `size` bytes of records."""
    return uvarint(size + 1) if version >= ProduceRequest.FLEXIBLE_FROM else _LENGTH.pack(size)


def _split_around(parts: list[Part], records: bytearray, version: int) -> tuple[bytearray, bytes]:
    """Returns the bytes before the length of the records, and the bytes after the records."""
    index_of_records = next(index for index, part in enumerate(parts) if part is records)
    head = bytearray(join_parts(parts[:index_of_records]))
    tail = join_parts(parts[index_of_records + 1 :])
    return head[: -len(records_length(len(records), version))], tail
