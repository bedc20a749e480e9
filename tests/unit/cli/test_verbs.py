"""Options between positional arguments, and unknown options."""

import pytest

from barnabas.cli.framework.verbs import load
from barnabas.cli.main import make_parser


def parse(name, *arguments):
    return make_parser(load(f"barnabas.cli.nouns.{name}"), name).parse_args(arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("t", "--format", "json", "one", "two"),
        ("t", "one", "--format", "json", "two"),
        ("--format", "json", "t", "one", "two"),
        ("t", "one", "two", "--format", "json"),
        ("t", "--format", "json", "--", "one", "two"),
    ],
)
def test_produce_accepts_options_and_files_in_any_order(arguments):
    found = parse("produce", *arguments)
    assert (found.topic, found.files, found.format) == ("t", ["one", "two"], "json")


def test_files_are_optional_after_options():
    assert parse("produce", "t", "-v").files == []


def test_verbs_accept_options_between_names():
    found = parse("topics", "delete", "one", "--yes", "two")
    assert (found.names, found.yes) == (["one", "two"], True)


def test_an_optional_name_may_follow_an_option():
    found = parse("configs", "describe", "broker", "-b", "host:1", "7")
    assert (found.kind, found.name) == ("broker", "7")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("produce", "t", "--frmat", "json"), "unknown option --frmat; did you mean --format?"),
        (("topics", "delete", "t", "--jes"), "topics delete: error: unknown option --jes"),
        (("records", "delete", "t", "--before=5"), "error: unknown option --before\n"),
        (
            ("configs", "alter", "topic", "t", "retention.ms=5"),
            "unrecognized arguments: retention.ms=5; did you mean --set retention.ms=5?",
        ),
        (("topics", "lst"), "did you mean list?"),
        (("offsets", "orders"), "did you mean offsets get orders?"),
        (("produce", "t", "--acks", "al"), "did you mean all?"),
        (("produce",), "the following arguments are required: TOPIC\n"),
    ],
)
def test_usage_errors_name_the_argument(capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        parse(*arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
