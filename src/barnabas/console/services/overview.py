"""The overview: brokers, disks, partitions, and current problems in plain words."""

from collections.abc import Iterator

from barnabas.admin import ConfigResource, LogDir
from barnabas.console.cluster_link import ClusterLink
from barnabas.console.models.cluster import BrokerSummary, DiskSummary, Overview, Problem
from barnabas.console.models.common import counted
from barnabas.console.services.snapshots import ClusterSnapshot, ClusterSnapshots
from barnabas.model.errors import BarnabasError

_FULL_SHARE = 0.9
_NAMED = 3
_METADATA_KEYS = ("zookeeper.connect", "process.roles")


class OverviewService:
    def __init__(self, link: ClusterLink, snapshots: ClusterSnapshots) -> None:
        self._link = link
        self._snapshots = snapshots
        self._metadata: str | None = None

    async def describe(self) -> Overview:
        snapshot = await self._snapshots.current()
        partitions = [item for topic in snapshot.topics.values() for item in topic.partitions]
        return Overview(
            cluster_id=snapshot.cluster.cluster_id,
            controller=snapshot.cluster.controller,
            metadata=await self._metadata_kind(snapshot),
            brokers=broker_summaries(snapshot),
            topics=len(snapshot.topics),
            partitions=len(partitions),
            offline=sum(item.leader is None for item in partitions),
            under_replicated=sum(item.under_replicated for item in partitions),
            problems=list(problems_of(snapshot)),
        )

    async def _metadata_kind(self, snapshot: ClusterSnapshot) -> str:
        """Returns where the cluster keeps its metadata, from the configuration of a broker."""
        if self._metadata is None and snapshot.cluster.brokers:
            resource = ConfigResource.broker(snapshot.cluster.brokers[0].id)
            try:
                found = await self._link.admin.describe_configs([resource], names=_METADATA_KEYS)
                entries = found[resource]
            except BarnabasError:
                return "unknown"
            values = {name: entry.value for name, entry in entries.items()}
            if values.get("zookeeper.connect"):
                self._metadata = f"ZooKeeper at {values['zookeeper.connect']}"
            elif values.get("process.roles"):
                self._metadata = "KRaft"
            else:
                self._metadata = "embedded"
        return self._metadata or "unknown"


def broker_summaries(snapshot: ClusterSnapshot) -> list[BrokerSummary]:
    """Returns the live brokers with the partitions that they lead and hold."""
    leaders: dict[int, int] = {}
    replicas: dict[int, int] = {}
    behind: dict[int, int] = {}
    for topic in snapshot.topics.values():
        for item in topic.partitions:
            if item.leader is not None:
                leaders[item.leader] = leaders.get(item.leader, 0) + 1
                behind[item.leader] = behind.get(item.leader, 0) + item.under_replicated
            for replica in item.replicas:
                replicas[replica] = replicas.get(replica, 0) + 1
    return [
        BrokerSummary(
            id=node.id,
            address=f"{node.host}:{node.port}",
            rack=node.rack,
            controller=node.id == snapshot.cluster.controller,
            leaders=leaders.get(node.id, 0),
            replicas=replicas.get(node.id, 0),
            under_replicated=behind.get(node.id, 0),
            disks=[disk_summary(item) for item in snapshot.log_dirs.get(node.id, ())],
        )
        for node in snapshot.cluster.brokers
    ]


def disk_summary(directory: LogDir) -> DiskSummary:
    return DiskSummary(
        path=directory.path,
        error=None if directory.error is None else str(directory.error),
        used_by_logs_bytes=sum(item.size_bytes for item in directory.replicas.values()),
        total_bytes=directory.total_bytes,
        usable_bytes=directory.usable_bytes,
    )


def problems_of(snapshot: ClusterSnapshot) -> Iterator[Problem]:
    """Yields the problems of a cluster, errors first."""
    if snapshot.cluster.controller is None:
        yield Problem(
            severity="error",
            text="There is no controller: leaders cannot be elected and topics cannot be changed.",
        )
    yield from _partition_problems(snapshot)
    yield from _disk_problems(snapshot)


def _partition_problems(snapshot: ClusterSnapshot) -> Iterator[Problem]:
    live = {node.id for node in snapshot.cluster.brokers}
    missing: dict[int, int] = {}
    offline: dict[str, int] = {}
    behind: dict[str, int] = {}
    for topic in snapshot.topics.values():
        for item in topic.partitions:
            if item.leader is None:
                offline[topic.name] = offline.get(topic.name, 0) + 1
            elif item.under_replicated:
                behind[topic.name] = behind.get(topic.name, 0) + 1
            for replica in set(item.replicas) - live:
                missing[replica] = missing.get(replica, 0) + 1
    if offline:
        yield Problem(
            severity="error",
            text=f"{_partitions_have(offline)} no leader and cannot be used: {_named(offline)}.",
            page="/topics",
        )
    for broker, count in sorted(missing.items()):
        yield Problem(
            severity="error",
            text=f"Broker {broker} is down or unreachable; it has replicas of "
            f"{counted(count, 'partition')}.",
            page="/cluster",
        )
    if behind:
        yield Problem(
            severity="warning",
            text=f"{_partitions_have(behind)} replicas that are not in sync: {_named(behind)}.",
            page="/topics",
        )


def _disk_problems(snapshot: ClusterSnapshot) -> Iterator[Problem]:
    for broker, directories in sorted(snapshot.log_dirs.items()):
        for item in directories:
            where = f"Log directory {item.path} of broker {broker}"
            if item.error is not None:
                yield Problem(severity="error", text=f"{where} is offline.", page="/cluster")
            elif item.total_bytes and item.usable_bytes is not None:
                used = 1 - item.usable_bytes / item.total_bytes
                if used >= _FULL_SHARE:
                    yield Problem(
                        severity="warning", text=f"{where} is on a disk that is {used:.0%} full."
                    )


def _partitions_have(counts: dict[str, int]) -> str:
    number = sum(counts.values())
    return f"{counted(number, 'partition')} {'has' if number == 1 else 'have'}"


def _named(counts: dict[str, int]) -> str:
    names = sorted(counts, key=lambda name: (-counts[name], name))
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more topics" if rest > 0 else "")
