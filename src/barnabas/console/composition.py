"""Creates the parts of a console and closes them: clients, services, sessions, audit log."""

import time
from datetime import UTC, datetime

from barnabas.console.cluster_link import ClusterLink
from barnabas.console.security.authentication import Authenticator
from barnabas.console.security.guard import AuditLog
from barnabas.console.security.identity import SessionStore
from barnabas.console.services.client_metrics import ClientMetricsService
from barnabas.console.services.cluster import (
    AccessService,
    ClusterService,
    ConfigService,
    ConnectionService,
    ZooKeeperService,
)
from barnabas.console.services.dead_letters import DeadLetterService
from barnabas.console.services.group_listing import ZooKeeperGroups
from barnabas.console.services.group_resets import GroupResetService
from barnabas.console.services.groups import GroupService
from barnabas.console.services.overview import OverviewService
from barnabas.console.services.pipelines import PipelineService, SqlDefinitionService, SqlService
from barnabas.console.services.rates import HistogramService, RateSampler
from barnabas.console.services.rebalances import RebalanceService
from barnabas.console.services.records.schema_registry import SchemaRegistry
from barnabas.console.services.records.service import RecordService
from barnabas.console.services.snapshots import ClusterSnapshots
from barnabas.console.services.topics import TopicService
from barnabas.console.services.transactions import TransactionService
from barnabas.console.settings import ConsoleSettings
from barnabas.runtime.clock import SystemClock


class Console:
    """The parts of one console; routes find it as `request.app.state.console`."""

    def __init__(self, settings: ConsoleSettings) -> None:
        self.settings = settings
        self.link = ClusterLink(settings.client, time.monotonic)
        self.authenticator = Authenticator(settings, time.monotonic)
        self.sessions = SessionStore(time.monotonic)
        self.audit_log = AuditLog(settings.audit_log, lambda: datetime.now(UTC))
        self.connection = ConnectionService(self.link, lambda: datetime.now(UTC))
        self.snapshots = ClusterSnapshots(self.link, time.monotonic)
        self.rates = RateSampler(self.link, self.snapshots, time.monotonic, _wall_clock_ms)
        self.overview = OverviewService(self.link, self.snapshots)
        self.topics = TopicService(self.link, self.snapshots, self.rates)
        self.configs = ConfigService(self.link)
        self.cluster = ClusterService(self.link, self.snapshots)
        self.client_metrics = ClientMetricsService(settings.metrics_urls)
        self.transactions = TransactionService(self.link, self.snapshots)
        self.access = AccessService(self.link)
        self.zookeeper = ZooKeeperService(settings.zookeeper)
        self.histograms = HistogramService(self.link)
        self.zookeeper_groups = ZooKeeperGroups(settings.zookeeper, settings.client)
        self.groups = GroupService(self.link, self.zookeeper_groups, SystemClock(), time.monotonic)
        self.rebalances = RebalanceService(self.link, self.snapshots)
        self.group_resets = GroupResetService(self.link)
        self.pipelines = PipelineService()
        self.sql = SqlService(settings.client)
        url = settings.schema_registry
        registry = None if url is None else SchemaRegistry(url, time.monotonic)
        self.records = RecordService(self.link, registry, time.monotonic)
        self.sql_definitions = SqlDefinitionService(self.records.reader)
        self.dead_letters = DeadLetterService(self.link, self.snapshots, self.records)

    async def close(self) -> None:
        await self.dead_letters.close()
        await self.rates.close()
        await self.snapshots.close()
        await self.zookeeper.close()
        await self.zookeeper_groups.close()
        await self.link.close()
        self.audit_log.close()


def _wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000
