"""Produce requests: which version, with which names or ids, and encoded once where it can be.

A request with one batch differs from the one before it in that batch alone, as long as nothing
about the partition's topic and connection changes. Its bytes around the batch are kept, which
makes a record that somebody waits for cheaper to send.
"""

import struct
from typing import ClassVar, NamedTuple

from barnabas.clients.core.cluster_metadata import ClusterMetadata
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.ids import ZERO_UUID, TopicPartition, Uuid
from barnabas.net.client import ClientConnection
from barnabas.records.batch import HEADER_SIZE
from barnabas.wire.message import Message
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from barnabas.wire.primitives import Part, uvarint

LAST_PRODUCE_BY_NAME = 12
_LENGTH = struct.Struct(">i")


class Form(NamedTuple):
    """The bytes around the batch of a request with one batch, and what they hold for."""

    connection: ClientConnection
    topic_id: Uuid
    last_version: int | None
    version: int
    head: bytearray
    tail: bytes


class LoneProduceRequest(Message):
    """A ProduceRequest with one batch, in the version of its form."""

    __slots__ = ("_form", "_records")
    API_KEY: ClassVar[int] = ProduceRequest.API_KEY

    def __init__(self, form: Form, records: bytearray) -> None:
        self._form = form
        self._records = records

    def encode(self, version: int) -> list[Part]:
        form, size = self._form, len(self._records)
        return [form.head + records_length(size, version), self._records, form.tail]


class ProduceRequests:
    """Makes the requests of one producer; owned by the sender's loop."""

    def __init__(self, settings: ProducerSettings, metadata: ClusterMetadata) -> None:
        self._settings = settings
        self._metadata = metadata
        self._forms: dict[TopicPartition, Form] = {}

    def make(
        self, batches: list[ProducerBatch], connection: ClientConnection, last_version: int | None
    ) -> tuple[Message, int]:
        """The request that carries the batches, one per partition, and its version."""
        if len(batches) == 1:
            return self._lone(batches[0], connection, last_version)
        request = self._whole([(batch.partition, batch.payload) for batch in batches])
        return request, self._version(request, connection, last_version)

    def _lone(
        self, batch: ProducerBatch, connection: ClientConnection, last_version: int | None
    ) -> tuple[Message, int]:
        assert batch.payload is not None
        form = self._form(batch.partition, connection, last_version)
        return LoneProduceRequest(form, batch.payload), form.version

    def _form(
        self, place: TopicPartition, connection: ClientConnection, last_version: int | None
    ) -> Form:
        """Returns the bytes around the single batch of a request, encoding them if needed."""
        form = self._forms.get(place)
        topic_id = self._metadata.topics[place.topic].topic_id
        if form is None or form[:3] != (connection, topic_id, last_version):
            records = bytearray(HEADER_SIZE)  # as few bytes as a batch has
            request = self._whole([(place, records)])
            version = self._version(request, connection, last_version)
            head, tail = _around(request.encode(version), records, version)
            form = Form(connection, topic_id, last_version, version, head, tail)
            self._forms[place] = form
        return form

    def _version(
        self, request: ProduceRequest, connection: ClientConnection, last_version: int | None
    ) -> int:
        version = connection.version_of(ProduceRequest)
        if any(topic.topic_id == ZERO_UUID for topic in request.topic_data):
            version = min(version, LAST_PRODUCE_BY_NAME)
        return version if last_version is None else min(version, last_version)

    def _whole(self, batches: "list[tuple[TopicPartition, bytearray | None]]") -> ProduceRequest:
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
    """How the length of `size` bytes of records is written."""
    return uvarint(size + 1) if version >= ProduceRequest.FLEXIBLE_FROM else _LENGTH.pack(size)


def _around(parts: list[Part], records: bytearray, version: int) -> tuple[bytearray, bytes]:
    """What stands before the length of the records, and what after them."""
    place = next(index for index, part in enumerate(parts) if part is records)
    head = bytearray().join(parts[:place])  # type: ignore[arg-type]
    tail = b"".join(parts[place + 1 :])  # type: ignore[arg-type]
    return head[: -len(records_length(len(records), version))], tail
