"""Batches of kafka-python and aiokafka: our bytes equal theirs, and each reads the other's."""

import warnings

import pytest
from aiokafka.record import default_records as aio_default
from aiokafka.record import legacy_records as aio_legacy
from aiokafka.record.memory_records import MemoryRecords as AioMemoryRecords
from support.records import hot_records

from barnabas.model.records import Codec
from barnabas.records import reader
from barnabas.records.batch import parse_header
from barnabas.records.batch_rules import BatchRules
from barnabas.records.builder import BatchBuilder
from barnabas.records.validation import validate_batch

# kafka-python reads its schemas through a call that Python 3.11 deprecates.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
    from kafka.record.legacy_records import LegacyRecordBatchBuilder

pytestmark = pytest.mark.compat

KAFKA_PYTHON_CODECS = [Codec.NONE, Codec.GZIP]
"""It takes the other codecs from packages of its own choice, which we do not need otherwise."""

RECORDS = [
    (b"k", b"v", [], 1_700_000_000_000),
    (None, b"v" * 1000, [("h", b"1"), ("n", None), ("", b"")], 1_700_000_000_005),
    (b"", b"", [], 1_699_999_999_000),
    (b"key", None, [("ü", "ü".encode())], 1_700_000_100_000),
    *((b"%d" % index, b"x" * index, [], 1_700_000_000_000 + index) for index in range(300)),
]


@pytest.fixture(autouse=True, params=hot_records.IMPLEMENTATIONS)
def hot(request):
    with hot_records.use(request.param) as modules:
        yield modules


def ours(codec=Codec.NONE, **options):
    builder = BatchBuilder(codec=codec, **options)
    for key, value, headers, timestamp in RECORDS:
        builder.append(key, value, headers, timestamp)
    return bytes(builder.build())


def fill(builder):
    for offset, (key, value, headers, timestamp) in enumerate(RECORDS):
        assert builder.append(offset, timestamp, key, value, headers) is not None
    return bytes(builder.build())


def theirs(factory, codec=Codec.NONE, *, transactional=0, producer=(-1, -1, -1)):
    return fill(factory(2, int(codec), transactional, *producer, 10**7))


FACTORIES = {
    "kafka-python": DefaultRecordBatchBuilder,
    "aiokafka": aio_default.DefaultRecordBatchBuilder,
    "aiokafka pure": aio_default._DefaultRecordBatchBuilderPy,
}


def without_epoch(batch):
    """They send other partition leader epochs (0 or -1), which brokers overwrite."""
    return batch[:12] + batch[16:]


@pytest.mark.parametrize("name", FACTORIES)
@pytest.mark.parametrize("transactional", [0, 1])
@pytest.mark.parametrize("producer", [(-1, -1, -1), (1234567890123, 7, 99)])
def test_equal_bytes(name, transactional, producer):
    mine = ours(
        transactional=bool(transactional),
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=producer[2],
    )
    foreign = theirs(FACTORIES[name], transactional=transactional, producer=producer)
    assert without_epoch(mine) == without_epoch(foreign)


@pytest.mark.parametrize(
    ("name", "codec"),
    [
        (name, codec)
        for name in FACTORIES
        for codec in (KAFKA_PYTHON_CODECS if name == "kafka-python" else Codec)
    ],
)
def test_we_read_theirs(name, codec):
    batch = theirs(FACTORIES[name], codec)
    assert validate_batch(batch, BatchRules(deep=True)).codec == codec
    records = reader.decode_records(batch, "t", 0).records
    assert [(r.key, r.value, list(r.headers), r.timestamp) for r in records] == RECORDS


@pytest.mark.parametrize("codec", KAFKA_PYTHON_CODECS)
def test_kafka_python_reads_ours(codec):
    batch = DefaultRecordBatch(ours(codec))
    assert batch.validate_crc()
    assert [(r.key, r.value, list(r.headers), r.timestamp) for r in batch] == RECORDS


@pytest.mark.parametrize("codec", Codec)
def test_aiokafka_reads_ours(codec):
    batch = AioMemoryRecords(ours(codec)).next_batch()
    assert batch.validate_crc()
    assert [(r.key, r.value, list(r.headers), r.timestamp) for r in batch] == RECORDS


LEGACY = {
    "kafka-python": (
        LegacyRecordBatchBuilder,
        [(magic, codec) for magic in (0, 1) for codec in KAFKA_PYTHON_CODECS],
    ),
    "aiokafka": (
        aio_legacy.LegacyRecordBatchBuilder,
        # Magic 0 lz4 had a wrong header checksum before Kafka 0.10; we do not read it.
        [(0, Codec.NONE), (0, Codec.GZIP), (0, Codec.SNAPPY)]
        + [(1, codec) for codec in Codec if codec != Codec.ZSTD],
    ),
}


@pytest.mark.parametrize(
    ("name", "magic", "codec"),
    [(name, *case) for name, (_factory, cases) in LEGACY.items() for case in cases],
)
def test_we_read_their_message_sets(name, magic, codec):
    factory, _cases = LEGACY[name]
    builder = factory(magic, codec, 10**7)
    for offset, (key, value, _headers, timestamp) in enumerate(RECORDS):
        builder.append(offset, timestamp, key, value)
    result = reader.decode_records(bytes(builder.build()), "t", 0)
    assert [(record.key, record.value) for record in result.records] == [
        record[:2] for record in RECORDS
    ]
    assert [record.offset for record in result.records] == list(range(len(RECORDS)))
    expected = [record[3] if magic else -1 for record in RECORDS]
    assert [record.timestamp for record in result.records] == expected
    assert result.next_offset == len(RECORDS)


def test_header_fields_read_alike():
    batch = ours(producer_id=5, producer_epoch=6, base_sequence=7)
    header, foreign = parse_header(batch), DefaultRecordBatch(batch)
    for name in ("base_offset", "crc", "attributes", "last_offset_delta", "max_timestamp",
                 "producer_id", "producer_epoch", "base_sequence", "records_count"):  # fmt: skip
        assert getattr(header, name) == getattr(foreign, name)
