"""Appends of a coordinator to its own partition."""

from collections.abc import Iterable
from typing import NamedTuple

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import NO_PRODUCER_ID
from barnabas.model.records import NO_EPOCH, Codec
from barnabas.records.batch import parse_header
from barnabas.records.builder import build_batch
from barnabas.replication.partition import ALL_IN_SYNC, Partition
from barnabas.storage.append_info import AppendOrigin


class BatchOwner(NamedTuple):
    """The transactional producer a batch is written for."""

    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = NO_EPOCH


NOBODY = BatchOwner()


def append_records(
    partition: Partition,
    records: Iterable[tuple[bytes, bytes | None]],
    now_ms: int,
    owner: BatchOwner = NOBODY,
    max_bytes: int | None = None,
    codec: Codec = Codec.NONE,
) -> int:
    """Append one batch as leader; returns the offset after it. BrokerError when it is not in.

    `max_bytes` is for batches whose size a client decides; the coordinator's own work must not
    stop at a limit meant for clients.
    """
    batch = build_batch(
        records,
        timestamp_ms=now_ms,
        codec=codec,
        producer_id=owner.producer_id,
        producer_epoch=owner.producer_epoch,
        transactional=owner is not NOBODY,
    )
    if max_bytes is not None and len(batch) > max_bytes:
        raise BrokerError(ErrorCode.MESSAGE_TOO_LARGE)
    info = partition.append_to_leader(
        batch,
        parse_header(batch),
        acks=ALL_IN_SYNC,
        now_ms=now_ms,
        origin=AppendOrigin.COORDINATOR,
    )
    return info.last_offset + 1
