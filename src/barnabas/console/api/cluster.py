"""Routes of the cluster and of its overview."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import StreamingResponse

from barnabas.admin import ConfigResource
from barnabas.console.api.routing import (
    ERRORS,
    EVENT_STREAM,
    Administrator,
    ClusterRoute,
    ConsoleDep,
    LocalReader,
    Reader,
    audit,
    event_stream,
)
from barnabas.console.models.cluster import (
    AbortBody,
    AccessBody,
    AclItem,
    ClientMetricsItem,
    ConnectionState,
    ElectionBody,
    ElectionResult,
    HangingItem,
    LogDirItem,
    Overview,
    QuotaItem,
    RateHistory,
    ReassignmentBody,
    ReassignmentItem,
    TransactionItem,
    TreeNode,
    VersionsBody,
)
from barnabas.console.models.topics import ConfigChanges, ConfigItem

router = APIRouter(prefix="/cluster", tags=["cluster"], responses=ERRORS, route_class=ClusterRoute)
BrokerPath = Annotated[int, Path(ge=0, le=2**31 - 1)]
BrokerQuery = Annotated[int | None, Query(ge=0, le=2**31 - 1)]
TreePath = Annotated[str, Query(max_length=1000, pattern=r"^/([^/\x00-\x1f]+(/[^/\x00-\x1f]+)*)?$")]


@router.get("/brokers/{broker}/configs", dependencies=[Reader])
async def describe_broker_configs(console: ConsoleDep, broker: BrokerPath) -> list[ConfigItem]:
    """The configuration of a broker with the default of each key."""
    return await console.configs.describe(ConfigResource.broker(broker))


@router.patch("/brokers/{broker}/configs", status_code=204, dependencies=[Administrator])
async def alter_broker_configs(
    console: ConsoleDep, broker: BrokerPath, body: ConfigChanges, request: Request
) -> None:
    """Changes dynamic values of one broker."""
    audit(request, keys=sorted({*body.values, *body.reset}))
    await console.configs.alter(ConfigResource.broker(broker), body)


@router.get("/log-dirs", dependencies=[Reader])
async def list_log_dirs(console: ConsoleDep) -> list[LogDirItem]:
    """The log directories of all live brokers."""
    return await console.cluster.log_dirs()


@router.get("/clients", dependencies=[Reader])
async def list_client_metrics(console: ConsoleDep) -> list[ClientMetricsItem]:
    """Clients that push their metrics to the brokers (KIP-714), with the last values."""
    return await console.client_metrics.list_clients()


@router.get("/reassignments", dependencies=[Reader])
async def list_reassignments(console: ConsoleDep) -> list[ReassignmentItem]:
    """Reassignments in progress."""
    return await console.cluster.reassignments()


@router.post("/reassignments", status_code=204, dependencies=[Administrator])
async def reassign(console: ConsoleDep, body: ReassignmentBody, request: Request) -> None:
    """Moves the replicas of a partition, or cancels the move."""
    audit(request, topic=body.topic, partition=body.partition, replicas=body.replicas)
    await console.cluster.reassign(body)


@router.post("/elections", dependencies=[Administrator])
async def elect_leaders(
    console: ConsoleDep, body: ElectionBody, request: Request
) -> ElectionResult:
    """Elects preferred leaders, or leaders out of sync for partitions without one."""
    audit(request, kind=body.kind, topic=body.topic)
    return await console.cluster.elect(body)


@router.get("/transactions", dependencies=[Reader])
async def list_transactions(console: ConsoleDep) -> list[TransactionItem]:
    """Transactional ids, open transactions first."""
    return await console.transactions.list_transactions()


@router.get("/transactions/hanging", dependencies=[Reader])
async def find_hanging_transactions(
    console: ConsoleDep, topic: Annotated[str | None, Query(max_length=249)] = None
) -> list[HangingItem]:
    """Open transactions that no coordinator will end; reads all partitions of the cluster."""
    return await console.transactions.find_hanging(topic)


@router.post("/transactions/abort", status_code=204, dependencies=[Administrator])
async def abort_transaction(console: ConsoleDep, body: AbortBody, request: Request) -> None:
    """Aborts a transaction in one partition."""
    audit(request, topic=body.topic, partition=body.partition, producer_id=body.producer_id)
    await console.transactions.abort(body)


@router.get("/access", dependencies=[Reader])
async def describe_access(console: ConsoleDep) -> AccessBody:
    """ACLs and SCRAM users."""
    return await console.access.describe()


@router.post("/acls", status_code=204, dependencies=[Administrator])
async def create_acl(console: ConsoleDep, body: AclItem, request: Request) -> None:
    """Creates an ACL."""
    audit(request, **body.model_dump())
    await console.access.create_acl(body)


@router.post("/acls/delete", dependencies=[Administrator])
async def delete_acl(console: ConsoleDep, body: AclItem, request: Request) -> int:
    """Deletes one ACL and returns the number of deleted ACLs."""
    audit(request, **body.model_dump())
    return await console.access.delete_acl(body)


@router.get("/quotas", dependencies=[Reader])
async def list_quotas(console: ConsoleDep) -> list[QuotaItem]:
    """Client quotas."""
    return await console.cluster.quotas()


@router.put("/quotas", status_code=204, dependencies=[Administrator])
async def alter_quota(console: ConsoleDep, body: QuotaItem, request: Request) -> None:
    """Sets quotas of an entity; null removes one."""
    audit(request, **body.model_dump())
    await console.cluster.alter_quota(body)


@router.get("/versions", dependencies=[Reader])
async def describe_versions(console: ConsoleDep, broker: BrokerQuery = None) -> VersionsBody:
    """API versions and features of a broker (default: any)."""
    return await console.cluster.versions(broker)


@router.get("/zookeeper", dependencies=[Reader])
async def read_zookeeper(console: ConsoleDep, path: TreePath = "/") -> TreeNode:
    """A node of the ZooKeeper tree."""
    return await console.zookeeper.node(path)


@router.get("/connection", dependencies=[LocalReader])
async def describe_connection(console: ConsoleDep) -> ConnectionState:
    """Whether a broker answers, and since when none does."""
    return await console.connection.state()


@router.get(
    "/connection/live",
    dependencies=[LocalReader],
    response_class=StreamingResponse,
    responses={200: {"content": {EVENT_STREAM: {}}, "description": "ConnectionState events"}},
)
async def follow_connection(console: ConsoleDep) -> StreamingResponse:
    """The state of the connection now and after each change, as server-sent events."""
    return event_stream(console.connection.changes())


overview_router = APIRouter(
    prefix="/overview", tags=["overview"], responses=ERRORS, route_class=ClusterRoute
)


@overview_router.get("", dependencies=[Reader])
async def describe_overview(console: ConsoleDep) -> Overview:
    """Brokers, disks, partitions and current problems."""
    return await console.overview.describe()


@overview_router.get("/rates", dependencies=[Reader])
async def list_rates(console: ConsoleDep) -> RateHistory:
    """Rates of the last minutes, while they were sampled."""
    console.rates.touch()
    return RateHistory(points=list(console.rates.points))


@overview_router.get(
    "/rates/live",
    dependencies=[Reader],
    response_class=StreamingResponse,
    responses={200: {"content": {EVENT_STREAM: {}}, "description": "RatePoint events"}},
)
async def follow_rates(console: ConsoleDep) -> StreamingResponse:
    """Rates as server-sent events, every two seconds."""
    return event_stream(console.rates.follow())
