"""DescribeCluster: returns the cluster id, the controller and the brokers.

v1 endpoint type; v2 fenced brokers, which exist only with KRaft.
"""

from typing import Protocol

from barnabas.broker.authorized_operations import ALL_ON_CLUSTER, NOT_ASKED
from barnabas.broker.handler import ApiHandler, HandlerContext, RequestPorts, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_BROKERS, _CONTROLLERS = 1, 2


class Ports(RequestPorts, Protocol):
    """Parts of the broker that this handler uses."""

    cluster_id: str


def handle_describe_cluster(ctx: HandlerContext[Ports], request: DescribeClusterRequest) -> Result:
    services = ctx.services
    if request.endpoint_type != _BROKERS:
        code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
        if request.endpoint_type == _CONTROLLERS:
            code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        text = "this cluster has no controller endpoints: it does not use KRaft"
        return DescribeClusterResponse(error_code=code, error_message=text)
    brokers = []
    for broker in services.metadata.brokers():
        endpoint = ctx.endpoint_of(broker)
        if endpoint is not None:
            brokers.append(
                DescribeClusterBroker(broker.broker_id, endpoint.host, endpoint.port, broker.rack)
            )
    return DescribeClusterResponse(
        cluster_id=services.cluster_id,
        controller_id=services.metadata.controller_id,
        brokers=brokers,
        cluster_authorized_operations=(
            ALL_ON_CLUSTER if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )


HANDLER = ApiHandler(ApiKey.DESCRIBE_CLUSTER, (0, 2), handle_describe_cluster)
