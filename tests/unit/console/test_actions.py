"""Actions: the three forms have the same values, and the command lines are valid."""

import ast
import shlex
from datetime import UTC, datetime

import pytest

from barnabas.cli.commands import find
from barnabas.cli.framework.verbs import load
from barnabas.cli.main import make_parser
from barnabas.console.actions import cluster, groups, topics
from barnabas.console.actions.action import ConsoleAddress

ACL = {
    "principal": "User:ada",
    "host": "*",
    "operation": "read",
    "permission": "deny",
    "resource_type": "topic",
    "resource_name": "orders",
    "pattern": "prefixed",
}
HANGING = {
    "topic": "orders",
    "partition": 0,
    "producer_id": 7,
    "producer_epoch": 1,
    "coordinator_epoch": 0,
}

CONSOLE = ConsoleAddress("http://127.0.0.1:8080", "ada")

ACTIONS = [
    topics.create_topic("orders", 3, 2, {"cleanup.policy": "compact"}),
    topics.create_topic("orders", None, None, {}),
    topics.delete_topic("orders"),
    topics.add_partitions("orders", 6),
    topics.alter_topic_configs("orders", {"retention.ms": "1"}, ["cleanup.policy"]),
    topics.delete_records("orders", None),
    topics.delete_records("orders", {2: 40}),
    cluster.alter_broker_configs(1, {"log.cleaner.threads": "2"}, ["a"]),
    cluster.reassign("orders", 0, [1, 2]),
    cluster.reassign("orders", 0, None),
    cluster.elect("preferred", None, None),
    cluster.elect("unclean", "orders", 3),
    cluster.abort_transaction(HANGING),
    cluster.create_acl(ACL),
    cluster.delete_acl(ACL),
    cluster.set_quotas({"user": "ada", "client_id": "<default>"}, {"producer_byte_rate": 10.0}),
    cluster.set_quotas({"user": "ada"}, {"producer_byte_rate": None, "consumer_byte_rate": None}),
    cluster.set_quotas({"ip": "127.0.0.1"}, {"connection_creation_rate": 5.5}),
    groups.delete_group("billing"),
    groups.delete_group("billing", "zk:2181"),
    groups.remove_member("billing", "m-1", static=False),
    groups.remove_member("billing", "host-1", static=True),
    groups.reset_offsets("billing", "earliest", None, None, None, [("orders", 0, 0)]),
    groups.reset_offsets("billing", "shift", "orders", -3, None, [("orders", 0, 0)]),
    groups.reset_offsets("billing", "time", "orders", None, datetime(2026, 1, 1, tzinfo=UTC), []),
    topics.produce_record("orders", {"key": "k", "value": "v", "headers": []}),
    topics.produce_record("orders", {"value": "/w==", "value_encoding": "base64"}),
    topics.produce_file("orders", "jsonl"),
    topics.produce_file("orders", "lines"),
    topics.read_records("orders", {"start": "newest"}),
    topics.read_records("orders", {"start": "offset", "offset": 3, "partition": 1}),
    topics.read_records("orders", {"start": "time", "time": 1000, "until": 2000}),
    groups.run_statement("SHOW STREAMS;"),
]

API_ACTIONS = [
    groups.resend("orders.dlq", {"letters": [{"partition": 0, "offset": 1}]}, CONSOLE),
    topics.search_records("orders", {"kind": "text", "query": "a b", "partition": None}, CONSOLE),
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.title)
def test_the_command_line_is_accepted_and_the_program_compiles(action):
    """Passes when neither the parser of the command nor Python rejects the text."""
    name, *arguments = action.cli
    parser = make_parser(load(find(name).module), f"barnabas {name}")
    parser.parse_args([*arguments, "--bootstrap-server", "localhost:9092"])
    ast.parse(action.python_text("localhost:9092"))


@pytest.mark.parametrize("action", API_ACTIONS, ids=lambda action: action.title)
def test_actions_without_a_command_are_shown_as_requests_to_the_api(action):
    command = shlex.split(action.cli_text("localhost:9092"))
    assert command[:4] == ["curl", "--no-buffer", "--user", "ada"]
    assert command[-1].startswith(f"http://127.0.0.1:8080/api/v1{action.path}")
    ast.parse(action.python_text("localhost:9092"))


def test_a_search_has_its_query_in_the_address():
    assert API_ACTIONS[1].cli_text("").endswith("/records/search?kind=text&query=a+b'")


def test_values_are_quoted_for_the_shell():
    text = topics.create_topic("orders", None, None, {"a": "x; rm -rf /"}).cli_text("h:1")
    assert text == "barnabas topics create orders --config 'a=x; rm -rf /' --bootstrap-server h:1"


def test_the_program_has_imports_and_the_address():
    text = topics.delete_records("orders", {2: 40}).python_text("h:1")
    assert text.splitlines() == [
        "from barnabas import Admin",
        "from barnabas import TopicPartition",
        "",
        "with Admin({'bootstrap.servers': 'h:1'}) as admin:",
        "    admin.delete_records({TopicPartition('orders', 2): 40}).check()",
    ]


def test_a_quota_keeps_all_digits():
    action = cluster.set_quotas({"user": "ada", "ip": None}, {"producer_byte_rate": 12345678.0})
    assert "producer_byte_rate=12345678" in action.cli
    assert action.body == {"user": "ada", "values": {"producer_byte_rate": 12345678.0}}
