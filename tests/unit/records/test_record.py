"""Records as values: immutable, comparable, picklable."""

import pickle

import pytest

from barnabas.model.records import TimestampType
from barnabas.records.record import Record


def test_defaults(hot):
    record = hot["_record_hot"].Record("t", 1, 2)
    assert (record.timestamp, record.leader_epoch) == (-1, -1)
    assert (record.key, record.value, record.headers) == (None, None, ())


def test_is_immutable(hot):
    record = hot["_record_hot"].Record("t", 1, 2)
    for name in ("topic", "offset", "value", "headers"):
        with pytest.raises(AttributeError):
            setattr(record, name, None)
    with pytest.raises(AttributeError):
        record.other = 1


def test_equality_and_hash(hot):
    make = hot["_record_hot"].Record
    assert make("t", 1, 2, value=b"v") == make("t", 1, 2, value=b"v")
    assert make("t", 1, 2, value=b"v") != make("t", 1, 2, value=b"w")
    assert make("t", 1, 2) != ("t", 1, 2)
    assert len({make("t", 1, 2), make("t", 1, 2), make("t", 1, 3)}) == 2


def test_replace(hot):
    record = hot["_record_hot"].Record("t", 1, 2, 3, key=b"k", headers=(("a", b""),))
    other = record.replace("key", {"value": 1})
    assert (other.key, other.value) == ("key", {"value": 1})
    assert (other.offset, other.timestamp, other.headers) == (2, 3, (("a", b""),))


def test_repr(hot):
    assert "offset=2" in repr(hot["_record_hot"].Record("t", 1, 2))


def test_pickle():
    record = Record("t", 1, 2, 3, TimestampType.LOG_APPEND_TIME, b"k", b"v", (("h", None),), 9)
    assert pickle.loads(pickle.dumps(record)) == record
