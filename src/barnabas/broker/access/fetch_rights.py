"""Which topics the sender of a fetch may read.

Judged at every read of every partition: a fetch session remembers partitions from earlier
requests, and a right may have been taken away since.
"""

from collections.abc import Callable

from barnabas.broker.access.access import Access
from barnabas.broker.handler import RequestContext
from barnabas.security.acl import Operation
from barnabas.security.authorizer import Authorizer


def fetch_rights(
    ctx: RequestContext, authorizer: Authorizer, *, follower: bool
) -> Callable[[str], bool]:
    """Tells of a topic's name whether it may be read.

    Who claims to be a follower must be a broker (CVE-2018-1288).
    """
    access = Access(authorizer, ctx.principal, ctx.connection.stream.peer[0])
    if not follower:
        return lambda topic: access.topic(Operation.READ, topic)
    allowed = access.cluster(Operation.CLUSTER_ACTION)
    return lambda topic: allowed
