"""Records as text: printf and Apache's formatter."""

import socket
import struct

import pytest

from barnabas.cli.apache.message_formatters import MessageFormatter
from barnabas.cli.record_io.record_formats import RecordFormat, RecordPrinter
from barnabas.model.errors import ConfigError
from barnabas.model.records import TimestampType
from barnabas.records.record import Record


def record(value=b"v", key=b"k", headers=(), timestamp=5, kind=TimestampType.CREATE_TIME):
    return Record("t", 1, 7, timestamp, kind, key, value, headers)


def test_a_printf_format_prints_all_parts_of_a_record():
    form = RecordFormat(r"%t %p %o %T %k %K %s %S %h%%\n\x00\q")
    assert form.render(record(headers=(("a", b"1"), ("b", None)))) == (
        b"t 1 7 5 k 1 v 1 a=1,b=%\n\x00\\q"
    )
    assert RecordFormat("%k%K").render(record(key=None)) == b"-1"
    with pytest.raises(ConfigError, match="unknown %y"):
        RecordFormat("%y")


def render(given, **properties):
    return MessageFormatter({k.replace("_", "."): v for k, v in properties.items()}).render(given)


def test_the_formatter_prints_values_alone_by_default():
    assert render(record()) == b"v\n"
    assert render(record(value=None)) == b"null\n"


def test_the_formatters_properties():
    given = record(headers=(("a", b"1"), ("b", None)))
    everything = {
        f"print_{name}": "true"
        for name in ("timestamp", "partition", "offset", "headers", "key", "value")
    }
    assert render(given, **everything) == b"CreateTime:5\tPartition:1\tOffset:7\ta:1,b:null\tk\tv\n"
    assert render(given, print_key="true", key_separator="=", line_separator="|") == b"k=v|"
    assert render(given, print_key="true", print_value="false", null_literal="-") == b"k\n"
    assert render(record(timestamp=-1), print_timestamp="true") == b"NO_TIMESTAMP\tv\n"
    appended = record(kind=TimestampType.LOG_APPEND_TIME)
    assert render(appended, print_timestamp="true") == b"LogAppendTime:5\tv\n"
    assert render(record(), print_headers="true") == b"NO_HEADERS\tv\n"


def test_a_java_deserializer_is_found_by_its_name():
    name = "org.apache.kafka.common.serialization.LongDeserializer"
    assert render(record(struct.pack(">q", -5)), value_deserializer=name) == b"-5\n"
    with pytest.raises(ValueError, match="8 are needed"):
        render(record(b"x"), value_deserializer=name)
    with pytest.raises(ConfigError, match="is unknown"):
        render(record(), value_deserializer="com.example.Mine")
    with pytest.raises(ConfigError, match="no property"):
        render(record(), print_nonsense="true")


def test_unbuffered_output_gets_all_records_of_a_call_at_once():
    """Standard output is a raw file with PYTHONUNBUFFERED; a datagram socket shows each write."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with near, far, open(far.fileno(), "wb", buffering=0, closefd=False) as out:
        records = [Record("t", 0, offset, value=b"v%d" % offset) for offset in range(3)]
        RecordPrinter("raw", None, out).write(records)
        assert near.recv(100) == b"v0\nv1\nv2\n"
