"""kafka-leader-election: elect preferred leaders, or unclean ones."""

import argparse
import json
from collections.abc import Mapping

from barnabas.admin import ElectionType
from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.options import read_input
from barnabas.cli.framework.output import DONE, FAILED
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BarnabasError, BrokerError, ConfigError
from barnabas.model.ids import TopicPartition

EXAMPLE = """
barnabas kafka-leader-election --bootstrap-server localhost:9092 --election-type preferred \\
    --all-topic-partitions
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--election-type", required=True, type=str.lower)
    parser.add_argument("--topic")
    parser.add_argument("--partition", type=int)
    parser.add_argument("--all-topic-partitions", action="store_true")
    parser.add_argument("--path-to-json-file", metavar="FILE")
    parser.add_argument("--admin.config", dest="old_config", metavar="FILE")
    add_bootstrap_options(parser)


def run(arguments: argparse.Namespace) -> int:
    kinds = {"preferred": ElectionType.PREFERRED, "unclean": ElectionType.UNCLEAN}
    if arguments.election_type not in kinds:
        raise ConfigError("--election-type: must be preferred or unclean")
    topic_partitions = _topic_partitions(arguments)
    with connection_of(arguments).admin() as admin:
        results = admin.elect_leaders(kinds[arguments.election_type], topic_partitions)
    return report(arguments.election_type, list(results), dict(results.errors))


def report(
    kind: str,
    topic_partitions: list[TopicPartition],
    errors: Mapping[TopicPartition, BarnabasError],
) -> int:
    """Prints the results as Kafka's tool does: elected, not needed, failed."""
    noop = [p for p, e in errors.items() if _not_needed(e)]
    failed = {p: e for p, e in errors.items() if p not in noop}
    done = [
        topic_partition for topic_partition in topic_partitions if topic_partition not in errors
    ]
    if done:
        shown = ", ".join(str(topic_partition) for topic_partition in sorted(done))
        say(f"Successfully completed leader election ({kind.upper()}) for partitions {shown}")
    if noop:
        shown = ", ".join(str(topic_partition) for topic_partition in sorted(noop))
        say(f"Valid replica already elected for partitions {shown}")
    for topic_partition, error in sorted(failed.items()):
        say(
            f"Error completing leader election ({kind.upper()}) for partition: "
            f"{topic_partition}: {error}"
        )
    return FAILED if failed else DONE


def _not_needed(error: BarnabasError) -> bool:
    return isinstance(error, BrokerError) and error.code is ErrorCode.ELECTION_NOT_NEEDED


def _topic_partitions(arguments: argparse.Namespace) -> list[TopicPartition] | None:
    chosen = [
        arguments.topic is not None,
        arguments.all_topic_partitions,
        arguments.path_to_json_file is not None,
    ]
    if sum(chosen) != 1:
        raise ConfigError(
            "exactly one of --topic with --partition, --all-topic-partitions, --path-to-json-file"
            " is required"
        )
    if arguments.all_topic_partitions:
        return None
    if arguments.topic is not None:
        if arguments.partition is None:
            raise ConfigError("--topic needs --partition")
        return [TopicPartition(arguments.topic, arguments.partition)]
    try:
        listed = json.loads(read_input(arguments.path_to_json_file))["partitions"]
        return [TopicPartition(str(item["topic"]), int(item["partition"])) for item in listed]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{arguments.path_to_json_file}: not a list of partitions: {error}"
        ) from error
