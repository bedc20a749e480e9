"""DescribeCluster: cluster id, controller and brokers.

v1 endpoint type; v2 fenced brokers, of which there are none without KRaft.
"""

from barnabas.broker.authorized_operations import ALL_ON_CLUSTER, NOT_ASKED
from barnabas.broker.handler import Handler, RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

_BROKERS = 1


def handle_describe_cluster(ctx: RequestContext, request: DescribeClusterRequest) -> Result:
    services = ctx.services
    if request.endpoint_type != _BROKERS:
        return DescribeClusterResponse(
            error_code=ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message="controllers have no endpoints of their own here",
            cluster_id=services.cluster_id,
        )
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


HANDLER = Handler(ApiKey.DESCRIBE_CLUSTER, (0, 2), handle_describe_cluster)
