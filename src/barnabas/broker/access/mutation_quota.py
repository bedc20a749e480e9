"""The quota on making and removing partitions (KIP-599): `controller_mutation_rate`.

Topics are counted one by one, after everything else about them was found in order. Once their
sender is over the quota, the rest of a request is refused with THROTTLING_QUOTA_EXCEEDED in
versions that know the code; older ones are served, told to wait, and not listened to for so long.
"""

from typing import Any

from barnabas.broker.access.client_quotas import Meter
from barnabas.broker.access.muting import Muting
from barnabas.broker.access.throttling import Handle, tell
from barnabas.broker.handler import RequestContext, Result
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.security.quotas import Limit
from barnabas.wire.api_keys import ApiKey

_REFUSED_FROM = {
    ApiKey.CREATE_TOPICS: 6,
    ApiKey.CREATE_PARTITIONS: 3,
    ApiKey.DELETE_TOPICS: 5,
}
MUTATIONS = frozenset(_REFUSED_FROM)


def limit_mutations(api: ApiKey, serve: Handle, meter: Meter, muting: Muting) -> Handle:
    """A handler of one of the three requests, behind the quota."""

    def handle(ctx: RequestContext, request: Any) -> Result:
        limit = None
        if meter.active:
            limit = meter.limit(ctx.principal.name, ctx.header.client_id or "")
        if limit is not None:
            budget = _Budget(meter, limit, strict=ctx.version >= _REFUSED_FROM[api])
            ctx.charge = budget.charge
            ctx.amend_with(lambda response: budget.settle(response, ctx, muting))
        return serve(ctx, request)

    return handle


class _Budget:
    """What one request takes from its sender's quota."""

    def __init__(self, meter: Meter, limit: Limit, *, strict: bool) -> None:
        self._meter = meter
        self._limit = limit
        self._strict = strict
        self._wait_ms = 0

    def charge(self, partitions: int) -> None:
        if not self._strict:
            self._wait_ms = self._meter.record(self._limit, partitions)
            return
        self._wait_ms = self._meter.record(self._limit, 0)
        if self._wait_ms > 0:
            raise BrokerError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        self._meter.record(self._limit, partitions)

    def settle(self, response: Any, ctx: RequestContext, muting: Muting) -> Any:
        """Tell the sender how long to wait, and have it done."""
        if self._wait_ms > 0:
            tell(response, self._wait_ms)
            muting.mute(ctx.connection, self._wait_ms)
        return response
