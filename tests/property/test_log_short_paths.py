"""The compiled append and read of a log do what its ordinary steps do, on real files."""

from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.storage.log_world import NOW, append, batch_of, open_at, snapshot

from barnabas.model.errors import BrokerError
from barnabas.records.batch import parse_header
from barnabas.storage import log as log_module
from barnabas.storage._log_short_paths_hot import append_single, append_to_active, read_small
from barnabas.storage.filesystem import OsFileSystem
from barnabas.storage.log_config import LogConfig

CONFIGS = st.fixed_dictionaries(
    {
        "segment.bytes": st.sampled_from(["400", "1000", "100000"]),
        "segment.ms": st.sampled_from(["50", "604800000"]),
        "index.interval.bytes": st.sampled_from(["0", "100", "4096"]),
        "segment.index.bytes": st.sampled_from(["24", "60", "10000"]),
        "message.timestamp.type": st.sampled_from(["CreateTime", "CreateTime", "LogAppendTime"]),
    }
)
APPENDS = st.lists(
    st.fixed_dictionaries(
        {
            "values": st.lists(st.binary(max_size=80), min_size=1, max_size=3),
            "time": st.integers(-60, 60),
            "epoch": st.integers(0, 1),
            "producer": st.none() | st.tuples(st.integers(0, 1), st.integers(0, 5)),
        }
    ),
    min_size=1,
    max_size=25,
)


@contextmanager
def ordinary():
    """The ordinary steps for every append."""
    with mock.patch.object(log_module, "append_to_active", return_value=False):
        yield


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    def new():
        directory = tmp_path_factory.mktemp("log") / "t-0"
        directory.mkdir()
        return directory

    return new


def batch_for(item):
    fields = {}
    if item["producer"] is not None:
        epoch, sequence = item["producer"]
        fields = {"producer_id": 9, "producer_epoch": epoch, "base_sequence": sequence}
    records = [(None, value) for value in item["values"]]
    return batch_of(records, timestamp_ms=NOW + item["time"], **fields)


def outcome(log, item, number):
    try:
        return append(log, batch_for(item), epoch=item["epoch"] + number // 8, now_ms=NOW + number)
    except BrokerError as error:
        return error.code


def files(directory):
    return {path.name: path.read_bytes() for path in directory.glob("*.log")}


def positions(log):
    reader = log.local.reader
    known = {offset: (at[0].base_offset, at[1]) for offset, at in reader._positions.items()}
    return known, reader._end_offset, log._flusher.unflushed_records, log._modified


@settings(max_examples=150, deadline=None)
@given(CONFIGS, APPENDS)
def test_appends_leave_the_same_log(directories, config, items):
    values = LogConfig.from_values(config)
    first, second = directories(), directories()
    short, plain = (open_at(OsFileSystem(), path, config=values) for path in (first, second))
    try:
        for number, item in enumerate(items):
            got = outcome(short, item, number)
            with ordinary():
                assert got == outcome(plain, item, number)
            assert snapshot(short) == snapshot(plain)
            assert positions(short) == positions(plain)
        assert files(first) == files(second)
    finally:
        short.close()
        plain.close()


@settings(max_examples=60, deadline=None)
@given(CONFIGS, APPENDS, st.data())
def test_small_reads_return_the_same_bytes(directories, config, items, data):
    log = open_at(OsFileSystem(), directories(), config=LogConfig.from_values(config))
    try:
        for number, item in enumerate(items):
            outcome(log, item, number)
        for _ in range(20):
            bound = data.draw(st.integers(0, log.log_end_offset))
            offset = data.draw(st.integers(0, log.log_end_offset))
            limit = data.draw(st.sampled_from([0, 80, 150, 250, 400, 1 << 20]))
            if offset < bound:
                found = read_small(log, offset, limit, bound)
                expected = log.read(offset, limit, max_offset=bound)
                if found is not None:
                    assert expected.slice is not None
                    assert found == expected.slice.read()
    finally:
        log.close()


def test_small_reads_serve_the_end_of_the_log(directories):
    """Otherwise the comparison above would compare nothing."""
    log = open_at(OsFileSystem(), directories(), config=LogConfig.from_values({}))
    try:
        for number in range(5):
            append(log, batch_of([(None, b"%d" % number)]))
        whole = [read_small(log, offset, 1 << 20, 5) for offset in range(5)]
        assert all(whole)
        assert read_small(log, 0, 1, 5) == whole[0][: len(whole[0]) // 5]
    finally:
        log.close()


def test_a_repeated_batch_and_a_wrong_sequence_are_left_to_the_log(directories):
    log = open_at(OsFileSystem(), directories(), config=LogConfig.from_values({}))
    try:
        for sequence in range(2):
            item = {"values": [b"v"], "time": 0, "epoch": 0, "producer": (0, sequence)}
            append(log, batch_for(item))
        for sequence, first in ((0, -1), (1, -1), (5, -1), (2, 2)):
            item = {"values": [b"v"], "time": 0, "epoch": 0, "producer": (0, sequence)}
            batch = memoryview(batch_for(item))
            assert append_single(log, batch, parse_header(batch), 0, NOW) == first
    finally:
        log.close()


def test_the_first_batch_of_a_segment_takes_the_short_path(directories):
    log = open_at(OsFileSystem(), directories(), config=LogConfig.from_values({}))
    try:
        batch = batch_of([(None, b"v")], timestamp_ms=NOW)
        assert append_to_active(log, batch, parse_header(batch), 0, NOW)
        assert log.log_end_offset == 1
        assert log.local.active.first_timestamp == NOW
    finally:
        log.close()
