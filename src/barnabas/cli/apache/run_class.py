"""kafka-run-class: run the tool with this class name."""

import argparse

from barnabas.cli.framework.verbs import load
from barnabas.model.errors import ConfigError

EXAMPLE = """
barnabas kafka-run-class kafka.tools.GetOffsetShell --broker-list localhost:9092 \\
    --time -1 --topic orders
"""
TOOLS = {
    "TopicCommand": "kafka-topics",
    "ConfigCommand": "kafka-configs",
    "ConsumerGroupCommand": "kafka-consumer-groups",
    "ConsoleConsumer": "kafka-console-consumer",
    "ConsoleProducer": "kafka-console-producer",
    "GetOffsetShell": "kafka-get-offsets",
    "DeleteRecordsCommand": "kafka-delete-records",
    "LogDirsCommand": "kafka-log-dirs",
    "LeaderElectionCommand": "kafka-leader-election",
    "ReassignPartitionsCommand": "kafka-reassign-partitions",
    "AclCommand": "kafka-acls",
    "DelegationTokenCommand": "kafka-delegation-tokens",
    "TransactionsCommand": "kafka-transactions",
    "ProducerPerformance": "kafka-producer-perf-test",
    "ConsumerPerformance": "kafka-consumer-perf-test",
    "DumpLogSegments": "kafka-dump-log",
    "Kafka": "kafka-server-start",
    "QuorumPeerMain": "zookeeper-server-start",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("class_name", metavar="CLASS", help=f"one of {', '.join(TOOLS)}")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="the tool's own flags")


def run(arguments: argparse.Namespace) -> int:
    tool = TOOLS.get(arguments.class_name.rpartition(".")[2])
    if tool is None:
        raise ConfigError(f"unknown class {arguments.class_name}; known are {', '.join(TOOLS)}")
    return int(load("barnabas.cli.main").main([tool, *arguments.rest]))
