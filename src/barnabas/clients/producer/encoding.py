"""Encodes batches: builds, sets the sequence and checksum, splits those that are too large."""

import struct
import threading

from barnabas.clients.producer.batch import Driver, ProducerBatch
from barnabas.clients.producer.identity import SEQUENCES
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.records.batch import parse_header, write_crc
from barnabas.records.builder import BatchBuilder
from barnabas.records.reader import iter_raw

_PRODUCER_FIELDS = struct.Struct(">qhi")
_PRODUCER_FIELDS_OFFSET = 43


def builder_of(settings: ProducerSettings) -> BatchBuilder:
    """Returns the builder for all batches of a producer."""
    return BatchBuilder(
        codec=settings.codec,
        level=settings.codec_level,
        transactional=settings.transactional_id is not None,
    )


def build(batch: ProducerBatch, builder: BatchBuilder) -> None:
    """Encodes the records into `payload` and sets `count`."""
    builder.appender = batch.appender
    batch.count = batch.appender.count
    batch.payload = builder.build_unsealed()


def seal(batch: ProducerBatch) -> None:
    """Writes the producer id, epoch, sequence and checksum into the built batch."""
    assert batch.payload is not None
    _PRODUCER_FIELDS.pack_into(
        batch.payload,
        _PRODUCER_FIELDS_OFFSET,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
    )
    write_crc(batch.payload, 0, len(batch.payload))


def split(batch: ProducerBatch, builder: BatchBuilder, driver: Driver) -> list[ProducerBatch]:
    """Splits a batch that is too large into two halves.

    Each part keeps the sequences of its records, so batches that were sent later still follow
    without a gap.
    """
    assert batch.payload is not None
    header = parse_header(batch.payload)
    records = iter_raw(batch.payload, 0, header)
    middle = len(records) // 2
    parts: list[ProducerBatch] = []
    for piece in (records[:middle], records[middle:]):
        part = ProducerBatch(batch.partition, 0, batch.created_ms, threading.Lock(), driver)
        for record in piece:
            part.appender.append(record.timestamp, record.key, record.value, record.headers)
        build(part, builder)
        part.urgent = True
        parts.append(part)
    if batch.has_sequence:
        for first, part in zip((0, middle), parts, strict=True):
            part.producer_id, part.producer_epoch = batch.producer_id, batch.producer_epoch
            part.base_sequence = (batch.base_sequence + first) % SEQUENCES
    batch.split_into([(0, parts[0]), (middle, parts[1])])
    return parts
