"""Handlers of all served APIs, one module per group of related APIs.

Each module lists its handlers in `HANDLERS`. The type of the list below makes mypy verify that
`Services` provides the ports of every handler.
"""

from barnabas.broker.handler import ApiHandler
from barnabas.broker.handlers import (
    acls,
    classic_groups,
    client_entities,
    configs,
    connection_setup,
    consumer_groups,
    delegation_tokens,
    fetch,
    find_coordinator,
    group_admin,
    group_offsets,
    inter_broker,
    log_dirs,
    log_offsets,
    metadata,
    partition_admin,
    produce,
    telemetry,
    topics,
    transaction_admin,
    transactions,
    txn_offset_commit,
)
from barnabas.broker.services import Services

HANDLERS: tuple[ApiHandler[Services], ...] = (
    *produce.HANDLERS,
    *fetch.HANDLERS,
    *log_offsets.HANDLERS,
    *metadata.HANDLERS,
    *inter_broker.HANDLERS,
    *group_offsets.HANDLERS,
    *find_coordinator.HANDLERS,
    *classic_groups.HANDLERS,
    *consumer_groups.HANDLERS,
    *group_admin.HANDLERS,
    *connection_setup.HANDLERS,
    *topics.HANDLERS,
    *transactions.HANDLERS,
    *txn_offset_commit.HANDLERS,
    *transaction_admin.HANDLERS,
    *configs.HANDLERS,
    *log_dirs.HANDLERS,
    *partition_admin.HANDLERS,
    *acls.HANDLERS,
    *client_entities.HANDLERS,
    *delegation_tokens.HANDLERS,
    *telemetry.HANDLERS,
)
