"""kafka-log-dirs: print the sizes of replicas in the brokers' log directories as JSON."""

import argparse
import json
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, parse_broker_list, say
from barnabas.cli.framework.output import DONE

if TYPE_CHECKING:
    from barnabas.admin import LogDir


EXAMPLE = "barnabas kafka-log-dirs --bootstrap-server localhost:9092 --describe --topic-list orders"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--describe", action="store_true", required=True)
    parser.add_argument("--topic-list", metavar="T,T")
    parser.add_argument("--broker-list", metavar="ID,ID")
    add_bootstrap_options(parser)


def run(arguments: argparse.Namespace) -> int:
    topics = set((arguments.topic_list or "").split(",")) - {""}
    brokers = parse_broker_list(arguments.broker_list or "")
    with connection_of(arguments).admin() as admin:
        say("Querying brokers for log directories information")
        found = admin.describe_log_dirs(brokers or None).check()
    listed = ",".join(str(number) for number in found)
    say(f"Received log directory information from brokers {listed}")
    document = {
        "brokers": [
            {"broker": broker, "logDirs": [_log_dir(item, topics) for item in directories]}
            for broker, directories in found.items()
        ],
        "version": 1,
    }
    say(json.dumps(document, separators=(",", ":")))
    return DONE


def _log_dir(directory: "LogDir", topics: set[str]) -> dict[str, object]:
    return {
        "partitions": [
            {
                "partition": str(topic_partition),
                "size": info.size_bytes,
                "offsetLag": info.offset_lag,
                "isFuture": info.future,
            }
            for topic_partition, info in sorted(directory.replicas.items())
            if not topics or topic_partition.topic in topics
        ],
        "error": None if directory.error is None else str(directory.error),
        "logDir": directory.path,
    }
