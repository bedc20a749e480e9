"""Validates a producer's batch before it is appended to the log.

Header, checksum and every record are checked, in compiled code and without an object per record:
a consumer cannot skip a batch that it cannot decode. Compressed records are decompressed for that,
up to a limit, and stored unchanged. With `deep` off (trusted producers) records are not decoded
unless a rule needs them: a compacted topic (every record needs a key) or a limit on how old records
may be.

Kafka accepts two kinds of batches that are rejected here, because clients cannot read them:
uncompressed records whose offset deltas are not 0, 1, 2…, and bytes after a gzip or lz4 stream.

Raises BrokerError with the error code of the response: CORRUPT_MESSAGE (2), MESSAGE_TOO_LARGE (10),
INVALID_TIMESTAMP (32), UNSUPPORTED_COMPRESSION_TYPE (76), INVALID_RECORD (87). The log checks
sequences, epochs and transactions.
"""

from collections.abc import Mapping
from typing import cast

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError
from barnabas.model.records import NO_TIMESTAMP, Codec, TimestampType
from barnabas.records._records_hot import RecordCursor
from barnabas.records._validation_hot import accept_plain
from barnabas.records.batch import (
    CODEC_MASK,
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    Buffer,
    crc_ok,
    set_max_timestamp,
)
from barnabas.records.batch_rules import DEFAULT_RULES, ZSTD_PRODUCE_VERSION, BatchRules
from barnabas.records.compression import DecompressedTooLargeError
from barnabas.records.reader import iter_raw, records_section


class RejectedRecordsError(BrokerError):
    """A batch is rejected because of some records; `problems` maps their index to the cause."""

    def __init__(self, code: ErrorCode, problems: Mapping[int, str]) -> None:
        number, problem = next(iter(problems.items()))
        super().__init__(code, f"{len(problems)} records are rejected; record {number}: {problem}")
        self.problems = problems


class OversizedBatchError(BrokerError):
    """A batch decompresses to more bytes than the rules allow."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.MESSAGE_TOO_LARGE, message)


def validate_batch(
    buf: Buffer, rules: BatchRules = DEFAULT_RULES, *, now_ms: int | None = None
) -> BatchHeader:
    """Returns the header of the one batch in `buf`; raises BrokerError if it is invalid.

    Timestamp limits are relative to `now_ms` and are not checked without it. If the max timestamp
    of the header differs from that of the records, header and `buf` are corrected.
    """
    if now_ms is not None and rules.must_walk and isinstance(buf, memoryview):
        plain: BatchHeader | None = accept_plain(buf, rules, now_ms)
        if plain is not None:
            return plain
    return _validate_in_steps(buf, rules, now_ms)


def _validate_in_steps(buf: Buffer, rules: BatchRules, now_ms: int | None) -> BatchHeader:
    header = _parse(buf)
    if header.size > rules.max_message_bytes:
        raise BrokerError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the batch has {header.size} bytes, max.message.bytes is {rules.max_message_bytes}",
        )
    _check_codec(header, rules)
    if not crc_ok(buf, 0, header):
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, "the batch does not match its checksum")
    _check_header(header)
    if header.timestamp_type == TimestampType.LOG_APPEND_TIME:
        raise BrokerError(ErrorCode.INVALID_TIMESTAMP, "only the broker sets LogAppendTime")
    if rules.must_walk:
        _check_records(buf, header, rules, now_ms)
    else:
        _check_header_timestamps(buf, header, rules, now_ms)
    return header


def _parse(buf: Buffer) -> BatchHeader:
    """Parses exactly one batch of magic 2."""
    if len(buf) == 0:
        raise _invalid("a produce request needs one batch per partition, got none")
    if len(buf) < HEADER_SIZE:
        raise _invalid(f"{len(buf)} bytes are too few for a batch")
    header = BatchHeader(*HEADER.unpack_from(buf))
    if 0 <= header.magic < MAGIC and header.batch_length > 0:
        raise _invalid(f"magic {header.magic}: only batches of magic 2 are accepted")
    if header.batch_length < HEADER_SIZE - LOG_OVERHEAD or header.magic != MAGIC:
        text = f"a batch cannot have {header.size} bytes and magic {header.magic}"
        raise BrokerError(ErrorCode.CORRUPT_MESSAGE, text)
    if header.size > len(buf):
        raise _invalid(f"the batch has the size {header.size} in its header, but {len(buf)} bytes")
    if header.size < len(buf):
        raise _invalid("a produce request needs one batch per partition, got more")
    return header


def _check_codec(header: BatchHeader, rules: BatchRules) -> None:
    codec = header.attributes & CODEC_MASK
    if codec > Codec.ZSTD:
        raise BrokerError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"unknown codec {codec}")
    if codec == Codec.ZSTD and rules.produce_version < ZSTD_PRODUCE_VERSION:
        raise BrokerError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
            f"zstd needs Produce version 7 (KIP-110), this is {rules.produce_version}",
        )


def _check_header(header: BatchHeader) -> None:
    if header.is_control:
        raise _invalid("clients may not write control batches")
    if header.records_count <= 0 or header.records_count != header.last_offset_delta + 1:
        raise _invalid(
            f"{header.records_count} records cannot end at delta {header.last_offset_delta}"
        )
    if header.has_delete_horizon:
        raise _invalid("only the log cleaner sets a delete horizon")
    if header.producer_id >= 0 and (header.base_sequence < 0 or header.producer_epoch < 0):
        raise _invalid(
            f"producer {header.producer_id} needs an epoch and a sequence number, "
            f"not {header.producer_epoch} and {header.base_sequence}"
        )
    if header.is_transactional and header.producer_id < 0:
        raise _invalid("a transactional batch needs a producer id")


def _check_header_timestamps(
    buf: Buffer, header: BatchHeader, rules: BatchRules, now_ms: int | None
) -> None:
    if now_ms is None or rules.timestamp_type == TimestampType.LOG_APPEND_TIME:
        return
    problem = _timestamp_problem(header.max_timestamp, rules, now_ms)
    if problem is not None:
        raise _rejection(buf, header, rules, now_ms) or BrokerError(
            ErrorCode.INVALID_TIMESTAMP, f"the batch says: {problem}"
        )


def _timestamp_problem(timestamp: int, rules: BatchRules, now_ms: int) -> str | None:
    if timestamp == NO_TIMESTAMP:
        return None
    if timestamp - now_ms > rules.timestamp_after_max_ms:
        return f"timestamp {timestamp} is more than {rules.timestamp_after_max_ms} ms ahead"
    if now_ms - timestamp > rules.timestamp_before_max_ms:
        return f"timestamp {timestamp} is more than {rules.timestamp_before_max_ms} ms old"
    return None


def _check_records(buf: Buffer, header: BatchHeader, rules: BatchRules, now_ms: int | None) -> None:
    try:
        section = records_section(buf, 0, header, rules.max_decompressed)
        lowest, highest, keyless = RecordCursor(section, header).check()
    except DecompressedTooLargeError as error:
        # A producer would split a batch that is too large; a decompression bomb must fail instead.
        raise OversizedBatchError(str(error)) from None
    except CorruptRecordError as error:
        raise _invalid(str(error)) from None
    in_time = now_ms is None or rules.timestamp_type == TimestampType.LOG_APPEND_TIME
    if now_ms is not None and not in_time:
        in_time = not any(_timestamp_problem(end, rules, now_ms) for end in (lowest, highest))
    if (rules.compacted and keyless >= 0) or not in_time:
        rejection = _rejection(buf, header, rules, now_ms)
        if rejection is not None:
            raise rejection
    if highest != header.max_timestamp and not memoryview(buf).readonly:
        set_max_timestamp(cast(bytearray, buf), 0, header, highest)


def _rejection(
    buf: Buffer, header: BatchHeader, rules: BatchRules, now_ms: int | None
) -> RejectedRecordsError | None:
    """Returns the invalid records of a batch (KIP-467)."""
    try:
        records = iter_raw(buf, 0, header, rules.max_decompressed)
    except CorruptRecordError:
        return None
    problems: dict[int, str] = {}
    code = ErrorCode.INVALID_RECORD
    for index, record in enumerate(records):
        if rules.compacted and record.key is None:
            problems[index] = "there is no key, and the topic is compacted"
        elif now_ms is not None and rules.timestamp_type == TimestampType.CREATE_TIME:
            problem = _timestamp_problem(record.timestamp, rules, now_ms)
            if problem is not None:
                problems[index], code = problem, ErrorCode.INVALID_TIMESTAMP
    return RejectedRecordsError(code, problems) if problems else None


def _invalid(message: str) -> BrokerError:
    return BrokerError(ErrorCode.INVALID_RECORD, message)
