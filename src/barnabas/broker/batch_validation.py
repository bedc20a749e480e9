"""Validates the compressed batches of produce requests; large ones in a thread.

A batch of 60 kB may decompress to 60 MB, which takes a quarter of a second. So a compressed batch
is decompressed on the loop up to `LOOP_BYTES` only. If it is larger, or if the broker must compress
it again for its topic, a thread validates it, which releases the interpreter while it decompresses.
One thread serves all connections, so there is one decompressed batch at a time. The request waits
for the thread, and its connection for the request: records of one producer stay in order.

Uncompressed batches are validated by the produce handler when they are appended.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from barnabas.broker.produce_rules import TopicRules
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.records.batch import CODEC_MASK, HEADER_SIZE, BatchHeader
from barnabas.records.rewrite import recompress
from barnabas.records.validation import OversizedBatchError, validate_batch

LOOP_COMPRESSION_BYTES = 1 << 16
"""Batches up to this size are compressed again on the loop."""
_ATTRIBUTES_LOW_BYTE = 22

ValidBatch = tuple[memoryview | bytearray, BatchHeader]
"""The batch in its stored form, and its header."""
Outcome = ValidBatch | BrokerError | CorruptRecordError
Validate = Callable[[], Outcome]
_T = TypeVar("_T")


def may_need_thread(records: memoryview) -> bool:
    """Whether the batch is compressed, or large enough that compressing it takes long."""
    if len(records) < HEADER_SIZE:
        return False
    is_compressed = records[_ATTRIBUTES_LOW_BYTE] & CODEC_MASK != 0
    return is_compressed or len(records) > LOOP_COMPRESSION_BYTES


def validated(
    rules: TopicRules, version: int, records: memoryview, now_ms: int, *, on_loop: bool = False
) -> ValidBatch:
    """Returns the valid batch, compressed as its topic demands; raises BrokerError.

    With `on_loop`, raises OversizedBatchError for a batch that a thread should validate.
    """
    accepted = rules.of_version(version, on_loop=on_loop)
    header = validate_batch(records, accepted, now_ms=now_ms)
    if rules.codec is None or rules.codec == header.codec:
        return records, header
    if on_loop and len(records) > LOOP_COMPRESSION_BYTES:
        raise OversizedBatchError(f"{len(records)} bytes are compressed again")
    packed = recompress(
        records, rules.codec, rules.level, max_decompressed=accepted.max_decompressed
    )
    return packed, validate_batch(packed, rules.repacked)


def outcome_of(validate: Callable[[], ValidBatch]) -> Outcome:
    """Returns the batch, or the error that the client gets.

    The error has no traceback: the traceback refers to the decompressed bytes, and to the calls
    whose variables refer to the error. This reference cycle would keep the bytes in memory until a
    garbage collection.
    """
    try:
        return validate()
    except (BrokerError, CorruptRecordError) as error:
        error.__cause__ = error.__context__ = None
        return error.with_traceback(None)


class ValidationThread:
    """Runs functions that decompress batches, one after the other; owned by the broker's loop."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], _T]) -> _T:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="barnabas-batch-validation")
        return await asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
