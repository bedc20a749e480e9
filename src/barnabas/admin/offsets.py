"""Offsets of partitions: earliest, latest, by timestamp."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from barnabas.admin.calls import AdminCalls
from barnabas.admin.fan_out import Outcome, per_leader
from barnabas.admin.results import Results
from barnabas.clients.core.apis import list_offsets as api
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.model.records import IsolationLevel
from barnabas.wire.messages.list_offsets import ListOffsetsRequest


@dataclass(frozen=True, slots=True)
class OffsetSpec:
    """Selects an offset: a timestamp in milliseconds, or a constant such as LATEST."""

    timestamp: int

    @classmethod
    def at(cls, when: datetime | int) -> "OffsetSpec":
        """Selects the first record at or after a time."""
        if isinstance(when, datetime):
            return cls(int(when.timestamp() * 1000))
        return cls(when)


LATEST = OffsetSpec(api.LATEST_TIMESTAMP)
EARLIEST = OffsetSpec(api.EARLIEST_TIMESTAMP)
MAX_TIMESTAMP = OffsetSpec(api.MAX_TIMESTAMP)
EARLIEST_LOCAL = OffsetSpec(api.EARLIEST_LOCAL_TIMESTAMP)
LATEST_TIERED = OffsetSpec(api.LATEST_TIERED_TIMESTAMP)

_NEEDED = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
"""First version of ListOffsets that supports each constant; older ones read it as a time."""


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """The found offset; None if no record has this timestamp or a later one."""

    offset: int | None
    timestamp: int | None
    leader_epoch: int | None


class OffsetCalls(AdminCalls):
    """Calls on the offsets of partitions."""

    async def list_offsets(
        self,
        specs: Mapping[TopicPartition, OffsetSpec],
        *,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Results[TopicPartition, ListedOffset]:
        """Returns one offset per partition.

        Args:
            specs: for each partition EARLIEST, LATEST, MAX_TIMESTAMP or `OffsetSpec.at(time)`.
            isolation: with READ_COMMITTED, LATEST is the last stable offset.
        """
        deadline = self._deadline("list offsets", timeout)

        async def ask(
            leader: int, partitions: list[TopicPartition]
        ) -> Outcome[TopicPartition, ListedOffset]:
            queries = {tp: api.OffsetQuery(specs[tp].timestamp) for tp in partitions}
            request = api.list_offsets_request(queries, isolation, deadline.left_ms)
            needed = max(_NEEDED.get(specs[topic_partition], 0) for topic_partition in partitions)
            what = "for one of these offsets"
            await self._session.require(ListOffsetsRequest, needed, what, leader)
            response = await self._session.client.send(leader, request)
            return {tp: _listed(found) for tp, found in api.read_list_offsets(response).items()}

        return await per_leader(self._session, specs, ask, deadline)


def _listed(
    found: api.OffsetAndTimestamp | BarnabasError,
) -> ListedOffset | BarnabasError:
    if isinstance(found, BarnabasError):
        return found
    return ListedOffset(_known(found.offset), _known(found.timestamp), _known(found.leader_epoch))


def _known(number: int) -> int | None:
    return number if number >= 0 else None
