"""LeaderAndIsr: the controller sets leader and ISR of the replicas on this broker.

v5 topic ids; v6 recovery after unclean elections; v7 a flag for KRaft controllers. Older
versions are not served: the brokers of a cluster differ by at most one release.
"""

from typing import Protocol

from barnabas.broker.cluster.control_commands import (
    leader_and_isr_command,
    leader_and_isr_response,
)
from barnabas.broker.cluster.wiring import ClusterPorts
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster: ClusterPorts


async def handle_leader_and_isr(
    ctx: HandlerContext[Ports], request: LeaderAndIsrRequest
) -> LeaderAndIsrResponse:
    cluster = ctx.services.cluster
    command = leader_and_isr_command(request, cluster.listener)
    return leader_and_isr_response(await cluster.receiver.apply(command), request)


HANDLER = ApiHandler(ApiKey.LEADER_AND_ISR, (5, 7), handle_leader_and_isr)
