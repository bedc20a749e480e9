"""kafka-reassign-partitions: propose, execute, verify, list and cancel moves of replicas."""

import argparse
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from barnabas.admin import LogDir, Replica
from barnabas.cli.apache.flags import add_bootstrap_options, connection_of, parse_broker_list, say
from barnabas.cli.apache.reassign_plan import (
    LogDirs,
    Replicas,
    brokers_for,
    clear_throttles,
    joined,
    moves_of,
    parse_plan,
    parse_topics,
    plan_json,
    plural_ending,
    propose,
    throttle_log_dirs,
    throttle_replication,
)
from barnabas.cli.framework.options import read_input
from barnabas.cli.framework.output import DONE
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, ConfigError, LocalError
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import Admin

ERROR_PREFIX = "Error: "
EXAMPLE = """
barnabas kafka-reassign-partitions --bootstrap-server localhost:9092 --generate \\
    --topics-to-move-json-file topics.json --broker-list 1,2,3
barnabas kafka-reassign-partitions --bootstrap-server localhost:9092 --execute \\
    --reassignment-json-file moves.json --throttle 50000000
barnabas kafka-reassign-partitions --bootstrap-server localhost:9092 --verify \\
    --reassignment-json-file moves.json
"""
EXISTING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to "
    "override this and create a new partition assignment in addition to the existing one. The "
    "--additional flag can also be used to change the throttle by resubmitting the current "
    "reassignment."
)
VERIFY_PERIODICALLY = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed."
)
RETRY_SECONDS = 0.2


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
    parser.add_argument("--throttle", type=int, default=-1, help="bytes/s between brokers")
    parser.add_argument(
        "--replica-alter-log-dirs-throttle", type=int, default=-1, help="bytes/s between log dirs"
    )
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
    wanted = sorted(parse_broker_list(arguments.broker_list))
    racks = {node.id: node.rack for node in admin.describe_cluster().brokers}
    brokers = brokers_for(wanted, {} if arguments.disable_rack_aware else racks)
    topics = parse_topics(read_input(arguments.topics_to_move_json_file))
    current = current_replicas(admin, topics)
    say(f"Current partition replica assignment\n{plan_json(current)}\n")
    proposed = plan_json(propose(current, brokers))
    say(f"Proposed partition reassignment configuration\n{proposed}")
    return DONE


def _execute(admin: "Admin", arguments: argparse.Namespace) -> int:
    moves, dirs = _plan(arguments)
    active = admin.list_partition_reassignments()
    if active and not arguments.additional:
        raise LocalError(EXISTING)
    current = current_replicas(
        admin, dict.fromkeys(topic_partition.topic for topic_partition in moves)
    )
    chosen = {
        topic_partition: current[topic_partition]
        for topic_partition in moves
        if topic_partition in current
    }
    say(
        f"Current partition replica assignment\n\n{plan_json(chosen)}\n\n"
        "Save this to use as the --reassignment-json-file option during rollback"
    )
    if arguments.throttle >= 0 or arguments.replica_alter_log_dirs_throttle >= 0:
        say(VERIFY_PERIODICALLY)
    if arguments.throttle >= 0:
        throttle_replication(admin, moves_of(moves, current, active), arguments.throttle)
    if arguments.replica_alter_log_dirs_throttle >= 0:
        brokers = {broker for _, broker in dirs}
        throttle_log_dirs(admin, brokers, arguments.replica_alter_log_dirs_throttle)
    errors = admin.alter_partition_reassignments(moves).errors
    if errors:
        raise LocalError(_error_lines("Error reassigning partition(s):", errors))
    started = f"Successfully started partition reassignment{plural_ending(moves)}"
    say(f"{started} for {_topic_partitions(moves)}")
    move_log_dirs(admin, dirs, arguments.timeout)
    return DONE


def _verify(admin: "Admin", arguments: argparse.Namespace) -> int:
    moves, dirs = _plan(arguments)
    active = admin.list_partition_reassignments()
    current = current_replicas(
        admin, dict.fromkeys(topic_partition.topic for topic_partition in moves)
    )
    say("Status of partition reassignment:")
    for topic_partition in sorted(moves):
        say(
            _state(
                topic_partition,
                moves[topic_partition],
                current.get(topic_partition, ()),
                active=topic_partition in active,
            )
        )
    moving = verify_log_dirs(admin, dirs)
    say("")
    if not active and not moving and not arguments.preserve_throttles:
        clear_throttles(admin, moves)
    return DONE


def _state(
    topic_partition: TopicPartition, wanted: Sequence[int], replicas: Sequence[int], *, active: bool
) -> str:
    if active:
        return f"Reassignment of partition {topic_partition} is still in progress."
    if list(replicas) == list(wanted):
        return f"Reassignment of partition {topic_partition} is completed."
    return (
        f"There is no active reassignment of partition {topic_partition}, but replica set is "
        f"{joined(replicas)} rather than {joined(wanted)}."
    )


def _cancel(admin: "Admin", arguments: argparse.Namespace) -> int:
    moves, _ = _plan(arguments)
    active = sorted(admin.list_partition_reassignments(list(moves)))
    if active:
        errors = admin.alter_partition_reassignments(dict.fromkeys(active)).errors
        if errors:
            head = f"Error cancelling partition reassignment{plural_ending(errors)} for:"
            raise LocalError(_error_lines(head, errors))
        say(
            f"Successfully cancelled partition reassignment{plural_ending(active)} for: "
            f"{_topic_partitions(active)}"
        )
    else:
        say("None of the specified partition reassignments are active.")
    # As in Kafka's tool, moves between log directories are not cancelled: the brokers do not report
    # which of them belong to this plan.
    say("None of the specified partition moves are active.")
    if not arguments.preserve_throttles:
        clear_throttles(admin, moves)
    return DONE


def _list(admin: "Admin", arguments: argparse.Namespace) -> int:
    active = admin.list_partition_reassignments()
    if not active:
        say("No partition reassignments found.")
        return DONE
    say("Current partition reassignments:")
    for topic_partition, move in sorted(active.items()):
        line = f"{topic_partition}: replicas: {joined(move.replicas)}."
        line += f" adding: {joined(move.adding)}." if move.adding else ""
        line += f" removing: {joined(move.removing)}." if move.removing else ""
        say(line)
    return DONE


def current_replicas(admin: "Admin", topics: Iterable[str]) -> Replicas:
    described = admin.describe_topics(list(topics)).check().values()
    return {
        TopicPartition(topic.name, item.partition): item.replicas
        for topic in described
        for item in topic.partitions
    }


def _plan(arguments: argparse.Namespace) -> tuple[dict[TopicPartition, list[int]], LogDirs]:
    if arguments.reassignment_json_file is None:
        raise ConfigError("--reassignment-json-file is missing")
    return parse_plan(read_input(arguments.reassignment_json_file))


def _error_lines(head: str, errors: Mapping[TopicPartition, Exception]) -> str:
    return "\n".join(
        [
            head,
            *(f"{topic_partition}: {error}" for topic_partition, error in sorted(errors.items())),
        ]
    )


def _topic_partitions(topic_partitions: Iterable[TopicPartition]) -> str:
    return ",".join(str(topic_partition) for topic_partition in sorted(topic_partitions))


def move_log_dirs(admin: "Admin", dirs: LogDirs, timeout_ms: int) -> None:
    """Starts every move between log directories; waits for replicas that do not exist yet."""
    deadline = time.monotonic() + timeout_ms / 1000
    pending = {
        Replica(*topic_partition, broker): name for (topic_partition, broker), name in dirs.items()
    }
    while pending:
        results = admin.alter_replica_log_dirs(pending)
        for replica in results.ok:
            name = f"replica {replica.topic}-{replica.partition} with broker {replica.broker}"
            say(f"Successfully started moving log directory to {pending[replica]} for {name} ")
        for error in results.errors.values():
            if not _is_missing_replica(error):
                raise error
        pending = {replica: pending[replica] for replica in results.errors}
        if pending and time.monotonic() >= deadline:
            shown = ",".join(f"{r.topic}-{r.partition}-{r.broker}" for r in pending)
            raise LocalError(
                f"Timed out before log directory move{plural_ending(pending)} "
                f"could be started for: {shown}"
            )
        threading.Event().wait(RETRY_SECONDS if pending else 0)


def _is_missing_replica(error: Exception) -> bool:
    return isinstance(error, BrokerError) and error.code is ErrorCode.REPLICA_NOT_AVAILABLE


def verify_log_dirs(admin: "Admin", dirs: LogDirs) -> bool:
    """Prints the state of each move and returns whether any is in progress."""
    brokers = sorted({broker for _, broker in dirs})
    found = admin.describe_log_dirs(brokers).ok if brokers else {}
    ongoing = False
    for (topic_partition, broker), wanted in sorted(dirs.items()):
        now, future = _where(found.get(broker, ()), topic_partition)
        ongoing = ongoing or future is not None
        say(_log_dir_state(topic_partition, broker, wanted, now, future))
    return ongoing


def _where(
    dirs: Iterable["LogDir"], topic_partition: TopicPartition
) -> tuple[str | None, str | None]:
    """Returns the directory of a replica and the directory to which it is being moved."""
    holding = [
        (item.path, item.replicas[topic_partition].future)
        for item in dirs
        if topic_partition in item.replicas
    ]
    now = next((path for path, future in holding if not future), None)
    return now, next((path for path, future in holding if future), None)


def _log_dir_state(
    topic_partition: TopicPartition, broker: int, wanted: str, now: str | None, future: str | None
) -> str:
    if future == wanted:
        return f"Reassignment of replica {topic_partition}-{broker} is still in progress."
    if future is not None:
        return (
            f"Partition {topic_partition} on broker {broker} is being moved to log dir {future} "
            f"instead of {wanted}."
        )
    if now is None:
        return (
            f"Partition {topic_partition} cannot be found in any live log directory on broker "
            f"{broker}."
        )
    if now == wanted:
        return f"Reassignment of replica {topic_partition}-{broker} completed successfully."
    return (
        f"Partition {topic_partition} on broker {broker} is not being moved from log dir {now} to "
        f"{wanted}."
    )
