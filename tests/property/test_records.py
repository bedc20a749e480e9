"""Round trips of arbitrary records, and batches that were tampered with."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.records import hot_records
from support.soak import SOAK

from barnabas import records as records_package
from barnabas.model.errors import CorruptRecordError
from barnabas.model.records import Codec
from barnabas.records import reader, rewrite
from barnabas.records.arrow import take_arrow
from barnabas.records.batch import HEADER_SIZE, iter_batches, parse_header, write_crc
from barnabas.records.builder import BatchBuilder
from barnabas.records.record import RawRecord

implementations = pytest.mark.parametrize("implementation", hot_records.IMPLEMENTATIONS)

FIELD = st.none() | st.binary(max_size=200)
HEADERS = st.lists(st.tuples(st.text(max_size=10), FIELD), max_size=3).map(tuple)
TIMESTAMP = st.integers(-1, 2**62)
NEW_RECORD = st.tuples(FIELD, FIELD, HEADERS, TIMESTAMP)
BATCH = st.lists(NEW_RECORD, min_size=1, max_size=20)
BASE = st.integers(0, 2**62)


def build(records, codec, base_offset=0):
    builder = BatchBuilder(codec=codec, base_offset=base_offset)
    for key, value, headers, timestamp in records:
        builder.append(key, value, headers, timestamp)
    return builder.build()


@implementations
@settings(deadline=None)
@given(records=BATCH, codec=st.sampled_from(Codec), base=BASE)
def test_round_trip(implementation, records, codec, base):
    with hot_records.use(implementation):
        batch = build(records, codec, base)
        raw = reader.iter_raw(batch, 0, parse_header(batch))
        assert raw == [
            RawRecord(base + index, timestamp, key, value, headers)
            for index, (key, value, headers, timestamp) in enumerate(records)
        ]
        decoded = reader.decode_records(batch, "t", 0).records
        assert [
            (record.key, record.value, record.headers, record.timestamp) for record in decoded
        ] == records
        assert parse_header(batch).max_timestamp == max(record[3] for record in records)


@pytest.mark.skipif(not records_package.COMPILED, reason="the extensions are not built")
@settings(deadline=None)
@given(records=BATCH, codec=st.sampled_from(Codec))
def test_the_codecs_agree_byte_for_byte(records, codec):
    batches = set()
    for name in ("compiled", "pure", "shim"):
        with hot_records.use(name):
            batches.add(bytes(build(records, codec)))
    assert len(batches) == 1


@implementations
@settings(deadline=None)
@given(batches=st.lists(BATCH, max_size=4), codec=st.sampled_from(Codec), data=st.data())
def test_any_fetch_offset_in_records_and_arrow(implementation, batches, codec, data):
    with hot_records.use(implementation):
        log, offset = b"", 0
        for records in batches:
            log += bytes(build(records, codec, offset))
            offset += len(records)
        start = data.draw(st.integers(0, offset))
        result = reader.decode_records(log, "t", 0, fetch_offset=start)
        assert [record.offset for record in result.records] == list(range(start, offset))
        assert result.next_offset == offset
        table = take_arrow(reader.FetchDecoder(log, "t", 0, fetch_offset=start))
        table.validate(full=True)
        for name in ("offset", "key", "value"):
            assert table.column(name).to_pylist() == [getattr(r, name) for r in result.records]


@implementations
@settings(deadline=None)
@given(records=BATCH, codec=st.sampled_from(Codec), data=st.data())
def test_cleaning_keeps_what_it_keeps(implementation, records, codec, data):
    with hot_records.use(implementation):
        batch = build(records, codec, 100)
        keep = data.draw(st.lists(st.booleans(), min_size=len(records), max_size=len(records)))
        horizon = data.draw(st.none() | TIMESTAMP)
        before = reader.iter_raw(batch, 0, parse_header(batch))
        cleaned = rewrite.retain_records(batch, keep, delete_horizon_ms=horizon)
        header = parse_header(cleaned)
        kept = [record for record, wanted in zip(before, keep, strict=True) if wanted]
        assert reader.iter_raw(cleaned, 0, header) == kept
        assert header.next_offset == 100 + len(records)


@implementations
@settings(deadline=None)
@given(records=BATCH, codec=st.sampled_from(Codec), data=st.data())
def test_a_flipped_bit_is_never_read(implementation, records, codec, data):
    """Behind the length field every flip is caught: by the checksum, or by magic and epoch."""
    with hot_records.use(implementation):
        batch = bytearray(build(records, codec))
        bit = data.draw(st.integers(16 * 8, len(batch) * 8 - 1))
        batch[bit >> 3] ^= 1 << (bit & 7)
        with pytest.raises(CorruptRecordError):
            reader.decode_records(batch, "t", 0)


class OneByOne(reader.FetchDecoder):
    """Decodes every batch with the general decoder, which reports errors."""

    def _append_batches(self, out, least):
        return False

    def _add_batches(self, columns, max_records):
        return False


def steps(decoder, least):
    """Returns the results of all calls until the end or the first error."""
    found = []
    while True:
        try:
            records = decoder.take_batches(least)
        except CorruptRecordError as error:
            return found, str(error)
        found.append((records, decoder.next_offset, decoder.last_leader_epoch))
        if not records:
            return found, ""


def arrow_steps(decoder, most):
    """Returns the results of all calls as Arrow until the end or the first error."""
    found = []
    while True:
        try:
            table = take_arrow(decoder, most)
        except CorruptRecordError as error:
            return found, str(error)
        table.validate()  # not in full: a damaged header name may not be UTF-8
        found.append((table, decoder.next_offset, decoder.last_leader_epoch))
        if not table.num_rows:
            return found, ""


@pytest.mark.skipif(not records_package.COMPILED, reason="the extensions are not built")
@settings(max_examples=300 if SOAK else 100, deadline=None)
@given(batches=st.lists(BATCH, min_size=1, max_size=4), data=st.data())
def test_many_batches_in_one_pass_equal_one_by_one(batches, data):
    """Also with a batch that is corrupt, whose checksum may be right."""
    log, offset = bytearray(), data.draw(st.integers(0, 3))
    for records in batches:
        batch = build(records, data.draw(st.sampled_from(Codec)), offset)
        if data.draw(st.integers(0, 3)) == 0:
            position = data.draw(st.integers(0, len(batch) - 1))
            batch[position] = data.draw(st.integers(0, 255))
            if data.draw(st.booleans()):
                write_crc(batch, 0, len(batch))
        log += batch
        offset += len(records)
    options = {
        "fetch_offset": data.draw(st.integers(0, offset)),
        "check_crcs": data.draw(st.booleans()),
        "aborted": data.draw(st.none() | st.just([(-1, 2)])),
    }
    least = data.draw(st.integers(1, 30))
    for read in (steps, arrow_steps):
        assert read(reader.FetchDecoder(log, "t", 3, **options), least) == read(
            OneByOne(log, "t", 3, **options), least
        )


def survives(implementation, batch):
    """Reading may succeed or raise CorruptRecordError; nothing else may happen."""
    modules = hot_records.load(implementation)
    for check_crcs in (True, False):
        options = {"max_decompressed": 10**6, "check_crcs": check_crcs}
        with contextlib.suppress(CorruptRecordError):
            reader.FetchDecoder(batch, "t", 0, **options).take()
        with contextlib.suppress(CorruptRecordError):
            columns = modules["_columns_hot"].ArrowColumns()
            reader.FetchDecoder(batch, "t", 0, **options).take_columns(columns)
    with contextlib.suppress(CorruptRecordError):
        for pos, header in iter_batches(batch):
            section = reader.records_section(batch, pos, header, 10**6)
            modules["_records_hot"].RecordCursor(section, header).check()


@implementations
@settings(max_examples=300 if SOAK else 100, deadline=None)
@given(records=BATCH, codec=st.sampled_from(Codec), data=st.data())
def test_tampering_behind_a_right_checksum(implementation, records, codec, data):
    """A hostile peer computes the checksum too: only structure can save us."""
    with hot_records.use(implementation):
        batch = bytearray(build(records, codec))
        for _ in range(data.draw(st.integers(1, 4))):
            position = data.draw(st.integers(0, len(batch) - 1))
            batch[position] = data.draw(st.integers(0, 255))
        write_crc(batch, 0, len(batch))
        survives(implementation, bytes(batch))


@implementations
@settings(max_examples=300 if SOAK else 100, deadline=None)
@given(
    body=st.binary(max_size=80), count=st.integers(0, 2**31 - 1) | st.integers(0, 5), data=st.data()
)
def test_garbage_records(implementation, body, count, data):
    """`survives` fails on any error other than the documented ones."""
    with hot_records.use(implementation):
        batch = bytearray(build([(None, None, (), 0)], Codec.NONE))[:HEADER_SIZE] + body
        batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
        batch[57:61] = count.to_bytes(4, "big")
        batch[22] = data.draw(st.integers(0, 7))
        write_crc(batch, 0, len(batch))
        survives(implementation, bytes(batch))


@implementations
@settings(deadline=None)
@given(data=st.binary(max_size=200))
def test_garbage(implementation, data):
    """`survives` fails on any error other than the documented ones."""
    with hot_records.use(implementation):
        survives(implementation, data)
