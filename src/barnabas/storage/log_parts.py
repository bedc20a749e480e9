"""What a log is put together from."""

from dataclasses import dataclass

from barnabas.model.ids import TopicPartition, Uuid
from barnabas.storage.dir_health import DirHealth
from barnabas.storage.leader_epochs import LeaderEpochs
from barnabas.storage.local_log import LocalLog
from barnabas.storage.producers.producer_snapshot import SnapshotFiles
from barnabas.storage.producers.producer_state import ProducerStates


@dataclass(slots=True)
class LogParts:
    """The pieces; `recovery.open_log` finds all of them on disk."""

    topic_partition: TopicPartition
    topic_id: Uuid | None
    local: LocalLog
    epochs: LeaderEpochs
    producers: ProducerStates
    snapshots: SnapshotFiles
    health: DirHealth
    log_start_offset: int
    high_watermark: int
