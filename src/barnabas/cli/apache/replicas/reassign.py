"""kafka-reassign-partitions: propose, execute, verify, list and cancel moves of replicas."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, say
from barnabas.cli.framework.exit_codes import DONE, FAILED
from barnabas.cli.framework.files import read_input
from barnabas.model.errors import ConfigError, LocalError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin

EXAMPLE = """
barnabas kafka-reassign-partitions --bootstrap-server localhost:9092 --generate \\
    --topics-to-move-json-file topics.json --broker-list 1,2,3
barnabas kafka-reassign-partitions --bootstrap-server localhost:9092 --execute \\
    --reassignment-json-file moves.json
"""
Replicas = Mapping[TopicPartition, Sequence[int]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    action = parser.add_mutually_exclusive_group(required=True)
    for name in ("generate", "execute", "verify", "cancel", "list"):
        action.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--reassignment-json-file", metavar="FILE")
    parser.add_argument("--topics-to-move-json-file", metavar="FILE")
    parser.add_argument("--broker-list", metavar="ID,ID")
    parser.add_argument("--disable-rack-aware", action="store_true")
    parser.add_argument("--additional", action="store_true")
    parser.add_argument("--preserve-throttles", action="store_true")
    parser.add_argument("--throttle", type=int, default=-1)
    parser.add_argument("--replica-alter-log-dirs-throttle", type=int, default=-1)
    parser.add_argument("--timeout", type=int, default=10_000)
    add_bootstrap_options(parser, zookeeper=True)


def run(arguments: argparse.Namespace) -> int:
    actions: dict[str, Callable[[Admin, argparse.Namespace], int]] = {
        "generate": _generate,
        "execute": _execute,
        "verify": _verify,
        "cancel": _cancel,
        "list": _list,
    }
    chosen = next(name for name in actions if getattr(arguments, name))
    with connection_of(arguments).admin() as admin:
        return actions[chosen](admin, arguments)


def _generate(admin: "Admin", arguments: argparse.Namespace) -> int:
    if arguments.topics_to_move_json_file is None or arguments.broker_list is None:
        raise ConfigError("--generate needs --topics-to-move-json-file and --broker-list")
    brokers = sorted(int(number) for number in arguments.broker_list.split(","))
    current = _current(admin, _topics(read_input(arguments.topics_to_move_json_file)))
    say(f"Current partition replica assignment\n{assignment_json(current)}\n")
    proposed = assignment_json(propose(current, brokers))
    say(f"Proposed partition reassignment configuration\n{proposed}")
    return DONE


def propose(current: Replicas, brokers: Sequence[int]) -> dict[TopicPartition, list[int]]:
    """Leaders round the brokers topic by topic, followers at a shift that changes each round."""
    found = {}
    positions: dict[str, int] = {}
    for place in sorted(current):
        factor = len(current[place])
        if factor > len(brokers):
            raise LocalError(f"{place} has {factor} replicas, there are {len(brokers)} brokers")
        index = positions.get(place.topic, 0)
        positions[place.topic] = index + 1
        shift = index // len(brokers)
        found[place] = [_replica(brokers, index, shift, n) for n in range(factor)]
    return found


def _replica(brokers: Sequence[int], index: int, shift: int, number: int) -> int:
    if number == 0:
        return brokers[index % len(brokers)]
    step = 1 + (shift + number - 1) % (len(brokers) - 1)
    return brokers[(index + step) % len(brokers)]


def _execute(admin: "Admin", arguments: argparse.Namespace) -> int:
    moves = _moves(arguments)
    active = admin.list_partition_reassignments()
    if active and not arguments.additional:
        raise LocalError("Cannot execute because there is an existing partition assignment.")
    current = _current(admin, dict.fromkeys(place.topic for place in moves))
    chosen = {place: current[place] for place in moves if place in current}
    say(
        f"Current partition replica assignment\n\n{assignment_json(chosen)}\n\n"
        "Save this to use as the --reassignment-json-file option during rollback"
    )
    errors = admin.alter_partition_reassignments(moves).errors
    for place, error in errors.items():
        sys.stderr.write(f"Error reassigning {place}: {error}\n")
    if errors:
        return FAILED
    many = "s" if len(moves) != 1 else ""
    shown = ",".join(str(place) for place in sorted(moves))
    say(f"Successfully started partition reassignment{many} for {shown}")
    return DONE


def _verify(admin: "Admin", arguments: argparse.Namespace) -> int:
    moves = _moves(arguments)
    active = admin.list_partition_reassignments(list(moves))
    current = _current(admin, dict.fromkeys(place.topic for place in moves))
    say("Status of partition reassignment:")
    for place in sorted(moves):
        if place in active:
            say(f"Reassignment of partition {place} is still in progress.")
        elif list(current.get(place, ())) == list(moves[place]):
            say(f"Reassignment of partition {place} is completed.")
        else:
            shown = ",".join(str(number) for number in current.get(place, ()))
            say(
                f"There is no active reassignment of partition {place}, but replica set is "
                f"{shown} rather than {','.join(map(str, moves[place]))}."
            )
    return DONE


def _cancel(admin: "Admin", arguments: argparse.Namespace) -> int:
    moves = _moves(arguments)
    active = admin.list_partition_reassignments(list(moves))
    if not active:
        say("None of the specified partition moves are active.")
        return DONE
    errors = admin.alter_partition_reassignments(dict.fromkeys(active)).errors
    for place, error in errors.items():
        sys.stderr.write(f"Error cancelling {place}: {error}\n")
    many = "s" if len(active) != 1 else ""
    shown = ",".join(str(place) for place in sorted(active))
    say(f"Successfully cancelled partition reassignment{many} for: {shown}")
    return FAILED if errors else DONE


def _list(admin: "Admin", arguments: argparse.Namespace) -> int:
    active = admin.list_partition_reassignments()
    if not active:
        say("No partition reassignments found.")
        return DONE
    say("Current partition reassignments:")
    for place, move in sorted(active.items()):
        line = f"{place}: replicas: {_numbers(move.replicas)}."
        line += f" adding: {_numbers(move.adding)}." if move.adding else ""
        line += f" removing: {_numbers(move.removing)}." if move.removing else ""
        say(line)
    return DONE


def assignment_json(replicas: Replicas) -> str:
    partitions = [
        {
            "topic": place.topic,
            "partition": place.partition,
            "replicas": list(numbers),
            "log_dirs": ["any"] * len(numbers),
        }
        for place, numbers in sorted(replicas.items())
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))


def _current(admin: "Admin", topics: Iterable[str]) -> dict[TopicPartition, tuple[int, ...]]:
    described = admin.describe_topics(list(topics)).check().values()
    return {
        TopicPartition(topic.name, item.partition): item.replicas
        for topic in described
        for item in topic.partitions
    }


def _moves(arguments: argparse.Namespace) -> dict[TopicPartition, list[int]]:
    if arguments.reassignment_json_file is None:
        raise ConfigError("--reassignment-json-file is missing")
    try:
        return {
            TopicPartition(str(item["topic"]), int(item["partition"])): [
                int(number) for number in item["replicas"]
            ]
            for item in json.loads(read_input(arguments.reassignment_json_file))["partitions"]
        }
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not a reassignment: {error}") from error


def _topics(text: str) -> list[str]:
    try:
        return [str(item["topic"]) for item in json.loads(text)["topics"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"not a list of topics: {error}") from error


def _numbers(numbers: Sequence[int]) -> str:
    return ",".join(str(number) for number in numbers)
