"""Runs of compressed batches on several threads: equal to the records, whatever is in the run."""

import functools
import threading
from random import Random

import pytest
from support.records.packed import repacked

from barnabas import records
from barnabas.clients.group import fetch_buffer
from barnabas.clients.group.subscription import SubscriptionState
from barnabas.model.errors import CorruptRecordError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import Codec
from barnabas.records import _section_runs_hot, reader
from barnabas.records.arrow import take_arrow
from barnabas.records.batch import assign_offsets, write_crc
from barnabas.records.builder import build_batch
from barnabas.records.compression import DecompressedTooLargeError, compress
from barnabas.records.reader import FetchDecoder
from barnabas.runtime import helper_threads

pytestmark = pytest.mark.skipif(not records.COMPILED, reason="the extensions are not built")

COMPRESSING = [codec for codec in Codec if codec != Codec.NONE]
TEXT = b"".join(b"%d and some text, " % (number * 37 % 1001) for number in range(1500))
SIZES = {"small": (3, 300), "usual": (4, 16_000), "large": (9, 300_000)}
"""Number of records and bytes of a batch."""


@functools.cache
def batch(codec, size, headers=False):
    count, whole = SIZES[size]
    value = TEXT * 16
    rows = [
        (b"k%d" % number, value[number : number + whole // count], [("h", b"x")] if headers else [])
        for number in range(count)
    ]
    return bytes(build_batch(rows, codec=codec, timestamp_ms=7))


def row(batches):
    """Returns batches one after the other, and their number of records."""
    data, base = bytearray(), 0
    for one in batches:
        moved = bytearray(one)
        assign_offsets(moved, 0, base, 0)
        data += moved
        base += int.from_bytes(moved[57:61], "big")
    return data, base


@pytest.fixture(params=[0, 1, 4], autouse=True)
def helpers(request, monkeypatch):
    monkeypatch.setattr(_section_runs_hot, "helper_count", lambda: request.param)
    started = []

    def start(task, count):
        started.append(count)
        helper_threads.start_helpers(task, count)

    monkeypatch.setattr(_section_runs_hot, "start_helpers", start)
    return started


def fields(table):
    table.validate(full=True)
    names = ("offset", "key", "value")
    headers = [len(headers) for headers in table.column("headers").to_pylist()]
    return list(zip(*(table.column(name).to_pylist() for name in names), headers, strict=True))


def by_columns(data, most=2**60, **options):
    """Returns the rows of as many Arrow batches as needed, and the error at the end."""
    decoder, found = FetchDecoder(data, "t", 0, **options), []
    while not decoder.exhausted:
        try:
            found += fields(take_arrow(decoder, most))
        except CorruptRecordError as error:
            return found, decoder.next_offset, type(error), str(error)
    return found, decoder.next_offset, None, ""


def by_records(data, **options):
    decoder, found = FetchDecoder(data, "t", 0, **options), []
    while not decoder.exhausted:
        try:
            found += [(r.offset, r.key, r.value, len(r.headers)) for r in decoder.take(1)]
        except CorruptRecordError as error:
            return found, decoder.next_offset, type(error), str(error)
    return found, decoder.next_offset, None, ""


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("codec", COMPRESSING)
def test_equal_to_records(codec, size, helpers, request):
    data, count = row([batch(codec, size)] * 70)
    assert by_columns(data) == by_records(data)
    assert by_columns(data, most=count // 3) == by_records(data)
    wanted = request.node.callspec.params["helpers"]
    if size == "usual":
        assert max(helpers, default=0) == wanted
    if size == "small":
        assert not helpers


@pytest.mark.parametrize("codec", COMPRESSING)
def test_batches_with_headers_and_of_other_codecs_among_them(codec):
    mixed = [batch(codec, "usual")] * 50
    mixed[9] = mixed[30] = batch(codec, "usual", headers=True)
    mixed[20] = batch(Codec.NONE, "usual")
    mixed[40:42] = [batch(other, "small") for other in COMPRESSING]
    data, _ = row(mixed)
    assert by_columns(data) == by_records(data)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_a_section_that_is_much_larger_than_the_others(codec):
    huge = bytes(build_batch([(None, bytes(5_000_000))], codec=codec, timestamp_ms=7))
    data, _ = row([batch(codec, "usual")] * 20 + [huge] * 2 + [batch(codec, "usual")] * 20)
    assert by_columns(data) == by_records(data)
    rows, offset, kind, _ = by_columns(data, max_decompressed=4_000_000)
    assert (len(rows), offset, kind) == (80, 80, DecompressedTooLargeError)


def damaged(codec, kind):
    """Returns a batch of the given kind of damage."""
    whole = bytearray(batch(codec, "usual"))
    plain = bytearray(batch(Codec.NONE, "usual"))
    match kind:
        case "checksum":
            whole[-1] ^= 1
        case "section":
            return repacked(plain, codec, lambda content: bytes(compress(codec, content))[:-9])
        case "record":
            plain[62] ^= 1
            return repacked(plain, codec, lambda content: bytes(compress(codec, content)))
        case "count":
            whole[57:61] = (2**31 - 1).to_bytes(4, "big")
            write_crc(whole, 0, len(whole))
        case "no records":
            whole[57:61] = bytes(4)
            write_crc(whole, 0, len(whole))
    return whole


@pytest.mark.parametrize("kind", ["checksum", "section", "record", "count", "no records"])
@pytest.mark.parametrize("codec", COMPRESSING)
@pytest.mark.parametrize("place", [0, 1, 2, 25, 49])
def test_a_damaged_batch(codec, kind, place):
    """The rows before it are returned; then its error, which is the same as without columns."""
    batches = [batch(codec, "usual")] * 50
    batches[place] = damaged(codec, kind)
    data = bytearray()
    for index, one in enumerate(batches):
        moved = bytearray(one)
        assign_offsets(moved, 0, index * 4, 0)
        data += moved
    found = by_columns(data)
    assert found == by_records(data)
    assert found[1] == place * 4
    assert found[2] is not None


def test_a_checksum_that_is_not_checked():
    data, _ = row([batch(Codec.LZ4, "usual")] * 40)
    data[17 + 20 * len(batch(Codec.LZ4, "usual"))] ^= 1
    found = by_columns(data, check_crcs=False)
    assert found[2] is None
    assert found == by_records(data, check_crcs=False)


@pytest.mark.parametrize("seed", range(6))
def test_random_rows_of_batches(seed):
    random = Random(seed)
    codecs = random.choices(list(Codec), k=2)
    batches = []
    while len(batches) < 80:
        codec, size = random.choice(codecs), random.choice(["small", "usual", "usual", "usual"])
        batches += [batch(codec, size, random.random() < 0.2)] * random.randrange(1, 40)
    data, count = row(batches)
    if seed % 2:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    assert by_columns(data, most=random.randrange(1, count)) == by_records(data)


class Refusing:
    """An executor of a program that exits."""

    def submit(self, task):
        raise RuntimeError("cannot schedule new futures after interpreter shutdown")


class Late:
    """An executor that begins its tasks when the run is over."""

    def __init__(self):
        self.tasks = []

    def submit(self, task):
        self.tasks.append(task)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_helpers_that_do_not_begin(codec, monkeypatch):
    data, _ = row([batch(codec, "usual")] * 70)
    late = Late()
    for executor in (Refusing(), late):
        monkeypatch.setattr(helper_threads, "_executor", executor)
        assert by_columns(data) == by_records(data)
    for task in late.tasks:
        task()


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.ZSTD])
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_error_in_the_calling_thread_loses_nothing(codec, error, monkeypatch):
    data, _ = row([batch(codec, "usual")] * 70)
    decompress, calls, raised = reader.decompress, [], threading.Event()

    def failing(*arguments):
        if threading.current_thread() is threading.main_thread():
            calls.append(1)
            if len(calls) == 2:
                raised.set()
                raise error
        else:
            raised.wait(10)
        return decompress(*arguments)

    monkeypatch.setattr(reader, "decompress", failing)
    decoder = FetchDecoder(data, "t", 0)
    with pytest.raises(error):
        take_arrow(decoder)
    assert fields(take_arrow(decoder)) == by_records(data)[0]


@pytest.mark.parametrize("codec", [Codec.GZIP, Codec.ZSTD])
def test_an_error_in_a_helper_is_the_callers(codec, monkeypatch):
    data, _ = row([batch(codec, "usual")] * 70)
    decompress, failed = reader.decompress, []

    def failing(*arguments):
        if threading.current_thread() is not threading.main_thread() and not failed:
            failed.append(1)
            raise MemoryError
        return decompress(*arguments)

    monkeypatch.setattr(reader, "decompress", failing)
    assert by_columns(data) == by_records(data)


@pytest.mark.parametrize("codec", COMPRESSING)
def test_poll_and_poll_arrow_in_turns(codec, monkeypatch):
    monkeypatch.setattr(fetch_buffer, "ARROW_BATCH_ROWS", 150)
    data, count = row([batch(codec, "usual")] * 200)
    topic_partition = TopicPartition("t", 0)
    subscription = SubscriptionState()
    subscription.assign([topic_partition])
    state = subscription.require(topic_partition)
    state.move_to(0)
    buffer = fetch_buffer.FetchBuffer(subscription)
    piece = fetch_buffer.Piece(state, state.stamp, FetchDecoder(data, "t", 0), len(data))
    buffer.put(piece, count)
    offsets = []
    for number in (1, 7, 4, 90):
        offsets += [record.offset for record in buffer.take(number)[topic_partition]]
        if number != 7:
            offsets += buffer.take_arrow().column("offset").to_pylist()
        assert state.offset == len(offsets)
    while (rest := buffer.take_arrow()) is not None:
        offsets += rest.column("offset").to_pylist()
    assert offsets == list(range(count))
    assert state.offset == count


def test_many_threads_use_the_helpers_at_the_same_time():
    rows = [row([batch(codec, "usual")] * 100) for codec in COMPRESSING]
    found = [None] * len(rows)

    def read(place):
        found[place] = len(by_columns(rows[place][0])[0])

    threads = [threading.Thread(target=read, args=(place,)) for place in range(len(rows))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [count for _, count in rows]
