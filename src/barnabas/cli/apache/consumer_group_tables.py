"""The tables of kafka-consumer-groups, in the format of Kafka's tool."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from barnabas.cli.apache.flags import say
from barnabas.cli.nouns.group_lag import PartitionLag
from barnabas.model.ids import TopicPartition

if TYPE_CHECKING:
    from barnabas.admin import GroupDescription, MemberDescription


NARROW = 15
MISSING = "-"


def width(values: Iterable[object], least: int = NARROW) -> int:
    """Returns the width of the longest value, but at least `least`."""
    return max([least, *(len(str(value)) for value in values)])


def print_offsets(lags: Sequence[PartitionLag], *, verbose: bool = False) -> None:
    """GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID."""
    rows = [_offset_cells(lag, verbose) for lag in lags]
    heads = [*("GROUP", "TOPIC", "PARTITION"), *(["LEADER-EPOCH"] if verbose else [])]
    heads += ["CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]
    widths = [10 if head == "PARTITION" else NARROW for head in heads]
    for flexible in (0, 1, -3, -2):
        widths[flexible] = width(row[flexible] for row in rows)
    say("")
    for row in [heads, *rows]:
        *padded, last = row
        cells = [f"{cell:<{size}}" for cell, size in zip(padded, widths, strict=False)]
        say(" ".join([*cells, last]))


def _offset_cells(lag: PartitionLag, verbose: bool) -> list[str]:
    member = lag.member
    values: list[object] = [lag.group, lag.topic_partition.topic, lag.topic_partition.partition]
    values += [lag.leader_epoch] if verbose else []
    values += [lag.current_offset, lag.log_end_offset, lag.lag]
    values += [member.member_id, member.host, member.client_id] if member else [None] * 3
    return [MISSING if value is None else str(value) for value in values]


def print_members(groups: Iterable["GroupDescription"], *, verbose: bool) -> None:
    for group in groups:
        members = group.members
        names = width([group.group_id])
        consumer = width(member.member_id for member in members)
        host = width(member.host for member in members)
        client = width(member.client_id for member in members)
        instance = width((member.instance_id or "" for member in members), 17)
        static = any(member.instance_id for member in members)
        line = f"{{:<{names}}} {{:<{consumer}}} "
        line += f"{{:<{instance}}} " if static else ""
        line += f"{{:<{host}}} {{:<{client}}} {{:<15}} "
        heads = ["GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if static else [])]
        heads += ["HOST", "CLIENT-ID", "#PARTITIONS"]
        tail = "CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   "
        say("")
        say(line.format(*heads) + (tail if verbose else ""))
        for member in members:
            cells = [group.group_id, member.member_id]
            cells += [member.instance_id or ""] if static else []
            cells += [member.host, member.client_id, str(len(member.assignment))]
            say(line.format(*cells) + (_details(group, member) if verbose else ""))


def _details(group: "GroupDescription", member: "MemberDescription") -> str:
    epoch, target_epoch = _epoch(member.member_epoch), _epoch(group.assignment_epoch)
    target = member.target_assignment
    targets = MISSING if target is None else assigned(target)
    return f"{epoch:<15} {assigned(member.assignment):<20} {target_epoch:<15} {targets:<20}"


def assigned(topic_partitions: Iterable[TopicPartition]) -> str:
    """Returns an assignment as `orders:0,1;other:2`; `-` when it is empty."""
    topics: dict[str, list[str]] = {}
    for topic_partition in sorted(topic_partitions):
        topics.setdefault(topic_partition.topic, []).append(str(topic_partition.partition))
    return ";".join(f"{topic}:{','.join(n)}" for topic, n in topics.items()) or MISSING


def print_states(groups: Iterable["GroupDescription"], *, verbose: bool = False) -> None:
    for group in groups:
        node = group.coordinator
        where = MISSING if node is None else f"{node.host}:{node.port}  ({node.id})"
        line = f"{{:<{width([group.group_id])}}} {{:<{max(25, len(where))}}} {{:<20}} {{:<20}} "
        heads = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE"]
        cells = [group.group_id, where, group.assignor or MISSING, str(group.state)]
        if verbose:
            line += "{:<15} {:<25} "
            heads += ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"]
            cells += [_epoch(group.group_epoch), _epoch(group.assignment_epoch)]
        say("")
        say(line.format(*heads) + "#MEMBERS")
        say(line.format(*cells) + str(len(group.members)))


def _epoch(number: int | None) -> str:
    return MISSING if number is None else str(number)


def print_reset(rows: Sequence[tuple[str, TopicPartition, int]]) -> None:
    line = "{:<30} {:<30} {:<10} {:<15}"
    say("")
    say(line.format("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"))
    for group, topic_partition, offset in rows:
        say(line.format(group, topic_partition.topic, topic_partition.partition, offset))
