"""LeaderAndIsr: the controller tells which partitions to lead and which to follow.

v5 topic ids; v6 recovery after unclean elections; v7 a flag for KRaft controllers. Older ones are
not served: brokers of one cluster run one version, or the next.
"""

from barnabas.broker.cluster.control_commands import (
    leader_and_isr_command,
    leader_and_isr_response,
)
from barnabas.broker.handler import Handler, RequestContext
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse


async def handle_leader_and_isr(
    ctx: RequestContext, request: LeaderAndIsrRequest
) -> LeaderAndIsrResponse:
    cluster = ctx.services.cluster
    command = leader_and_isr_command(request, cluster.listener)
    return leader_and_isr_response(await cluster.receiver.apply(command), request)


HANDLER = Handler(ApiKey.LEADER_AND_ISR, (5, 7), handle_leader_and_isr)
