"""What a broker writes into the tree about itself: roots, cluster id, broker id, registration.

The registration is an ephemeral node; its creation number is the broker epoch, which tells this
incarnation from earlier ones (KIP-380).
"""

import secrets
from collections.abc import Callable

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, Uuid
from barnabas.zk import paths
from barnabas.zk.ephemeral import claim_ephemeral
from barnabas.zk.tree import (
    CreateOp,
    MetadataTree,
    MultiError,
    NodeExistsError,
    NoNodeError,
    ancestors_of,
)
from barnabas.zk.znodes import BrokerNode, ClusterIdNode


async def ensure_roots(tree: MetadataTree) -> None:
    """Create the persistent roots that are missing, in one step."""
    wanted = dict.fromkeys(step for root in paths.PERSISTENT_ROOTS for step in ancestors_of(root))
    while missing := [path for path in wanted if await tree.exists(path) is None]:
        try:
            await tree.multi([CreateOp(path) for path in missing])
        except MultiError as error:
            if not isinstance(error.cause, NodeExistsError):
                raise error.cause from error


async def cluster_id(tree: MetadataTree) -> str:
    """The cluster's id; the first broker that asks chooses it."""
    while True:
        try:
            data, _ = await tree.get(paths.CLUSTER_ID)
            return ClusterIdNode.decode(data).cluster_id
        except NoNodeError:
            await tree.ensure_path("/cluster")
        chosen = str(Uuid(secrets.token_bytes(16)))
        try:
            await tree.create(paths.CLUSTER_ID, ClusterIdNode(chosen).encode())
        except NodeExistsError:
            continue
        return chosen


async def generate_broker_id(tree: MetadataTree, *, reserved_max: int = 1000) -> BrokerId:
    """A broker id that nobody has: the version of a node that every caller writes to."""
    await tree.ensure_path(paths.BROKER_SEQUENCE_ID)
    stat = await tree.set(paths.BROKER_SEQUENCE_ID, b"")
    return BrokerId(reserved_max + stat.version)


class BrokerRegistration:
    """Keeps one broker registered, over one session after another.

    `describe` gives the node's contents when they are needed: addresses are known only once the
    listeners are bound.
    """

    def __init__(
        self,
        tree: MetadataTree,
        broker_id: BrokerId,
        describe: Callable[[], BrokerNode],
        *,
        wait_s: float = 20.0,
    ) -> None:
        self._tree = tree
        self.broker_id = broker_id
        self._describe = describe
        self._wait_s = wait_s
        self._sessions: set[int] = set()
        self._broker_epoch = -1

    @property
    def broker_epoch(self) -> int:
        """Of the last registration; -1 before the first."""
        return self._broker_epoch

    async def register(self) -> int:
        """Register in the current session and return the broker epoch.

        A node that another session holds gets some time to go away, since it may be our own from
        before a restart; after that the id counts as taken.
        """
        data = self._describe().encode()
        try:
            stat = await claim_ephemeral(
                self._tree,
                paths.broker(self.broker_id),
                data,
                former_sessions=self._sessions - {self._tree.session_id},
                wait_s=self._wait_s,
            )
        except NodeExistsError as error:
            text = f"broker id {self.broker_id} is registered by another broker"
            raise BrokerError(ErrorCode.DUPLICATE_BROKER_REGISTRATION, text) from error
        self._sessions.add(stat.ephemeral_owner)
        self._broker_epoch = stat.czxid
        return stat.czxid
