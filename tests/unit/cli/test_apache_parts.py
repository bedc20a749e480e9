"""Pure pieces of Apache's tools: flags, assignment proposals, offset files, tables."""

import argparse

import pytest

from barnabas.cli.apache.configs import additions
from barnabas.cli.apache.console_producer import parsed
from barnabas.cli.apache.consumer_groups import assigned
from barnabas.cli.main import long_flags
from barnabas.cli.nouns.group_lag import eta_seconds
from barnabas.cli.nouns.group_reset import parse_offsets_file
from barnabas.cli.record_io.selection import parse_partitions, parse_selection
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import TopicPartition


@pytest.fixture
def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--topic")
    made.add_argument("--time")
    made.add_argument("-b")
    return made


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["-topic", "x"], ["--topic", "x"]),
        (["-topic=x"], ["--topic=x"]),
        (["--time", "-1"], ["--time", "-1"]),
        (["-b", "x", "-t"], ["-b", "x", "-t"]),
        (["-top", "-nonsense"], ["--top", "-nonsense"]),
    ],
)
def test_long_flags_with_one_dash(parser, given, meant):
    assert long_flags(parser, given) == meant


def test_added_configs_may_have_commas_in_brackets():
    given = argparse.Namespace(add_config="a=1,b=[x,y],c=z", add_config_file=None)
    assert additions(given) == {"a": "1", "b": "x,y", "c": "z"}
    with pytest.raises(ConfigError):
        additions(argparse.Namespace(add_config="a", add_config_file=None))


def test_partitions_are_printed_by_topic():
    topic_partitions = [TopicPartition("b", 1), TopicPartition("a", 2), TopicPartition("a", 0)]
    assert assigned(topic_partitions) == "a:0,2;b:1"
    assert assigned([]) == "-"


@pytest.mark.parametrize(
    "text",
    [
        "t,0,5\nu,1,6\n",
        '"g",t,0,5\n"g",u,1,6\n"other",t,0,9\n',
        '{"partitions": [{"topic":"t","partition":0,"offset":5},'
        '{"topic":"u","partition":1,"new_offset":6}]}',
    ],
)
def test_every_form_of_an_offset_file_is_read(text):
    assert parse_offsets_file(text, "g") == {TopicPartition("t", 0): 5, TopicPartition("u", 1): 6}


@pytest.mark.parametrize("text", ["t,0", "t,x,5", '{"x": 1}', "[1]"])
def test_an_invalid_offset_file_is_rejected(text):
    with pytest.raises(ConfigError):
        parse_offsets_file(text)


def test_a_selection_has_a_topic_and_partitions():
    assert parse_selection("a:1,3-5") == ("a", (1, 3, 4, 5))
    for wrong in ("", "x", "1-", "-1"):
        with pytest.raises(ConfigError):
            parse_partitions(wrong)


def test_time_to_catch_up():
    assert eta_seconds(None, 1.0, 0.0) is None
    assert eta_seconds(10, 5.0, 5.0) is None
    assert eta_seconds(10, 15.0, 5.0) == 1.0


READER = {
    "parse.key": "true",
    "key.separator": ":",
    "parse.headers": "false",
    "headers.delimiter": "\t",
    "headers.separator": ",",
    "headers.key.separator": ":",
    "ignore.error": "false",
    "null.marker": "",
}


def test_lines_of_the_console_producer():
    assert list(parsed([b"k:v:w\r\n"], READER)) == [(b"k", b"v:w", ())]
    with pytest.raises(LocalError, match="line number 2"):
        list(parsed([b"k:v\n", b"none\n"], READER))
    lenient = {**READER, "ignore.error": "true"}
    assert list(parsed([b"none\n"], lenient)) == [(None, b"none", ())]
