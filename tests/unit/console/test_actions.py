"""Actions: the three forms have the same values, and the command lines are valid."""

import ast

import pytest

from barnabas.cli.commands import find
from barnabas.cli.framework.verbs import load
from barnabas.cli.main import make_parser
from barnabas.console.actions import cluster, topics

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
    cluster.set_quota("ada", "<default>", "producer_byte_rate", 10.0),
    cluster.set_quota("ada", None, "producer_byte_rate", None),
]


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.title)
def test_the_command_line_is_accepted_and_the_program_compiles(action):
    name, *arguments = action.cli
    parser = make_parser(load(find(name).module), f"barnabas {name}")
    parser.parse_args([*arguments, "--bootstrap-server", "localhost:9092"])
    ast.parse(action.python_text("localhost:9092"))


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
