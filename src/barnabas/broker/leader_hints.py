"""Adds the current leader to responses of a broker that is not the leader (KIP-951)."""

from typing import Any

from barnabas.broker.handler import RequestContext
from barnabas.model.control import PartitionState
from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import BrokerId, TopicPartition

_HINTED = frozenset({int(ErrorCode.NOT_LEADER_OR_FOLLOWER), int(ErrorCode.FENCED_LEADER_EPOCH)})


def leader_hint(
    ctx: RequestContext, error_code: int, topic_partition: TopicPartition
) -> PartitionState | None:
    """Returns the state with the leader if clients can use it for this error, otherwise None."""
    if error_code not in _HINTED:
        return None
    state = ctx.services.metadata.partition(topic_partition)
    return state if state is not None and state.leader >= 0 else None


def node_endpoints(ctx: RequestContext, leaders: set[BrokerId], make: Any) -> list[Any]:
    """Returns the addresses of the leaders, built with `make(node_id, host, port, rack)`."""
    found = []
    for broker_id in sorted(leaders):
        broker = ctx.services.metadata.broker(broker_id)
        endpoint = ctx.endpoint_of(broker) if broker is not None else None
        if broker is not None and endpoint is not None:
            found.append(make(broker_id, endpoint.host, endpoint.port, broker.rack))
    return found
