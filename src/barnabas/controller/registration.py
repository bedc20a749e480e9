"""Writes a broker's own nodes: persistent roots, cluster id, broker id, registration.

The registration is an ephemeral node. Its creation transaction id (czxid) is the broker epoch,
which distinguishes this incarnation of the broker from earlier ones (KIP-380).
"""

import secrets
from collections.abc import Callable

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.model.ids import BrokerId, Uuid
from barnabas.zk import paths
from barnabas.zk.recipes import claim_ephemeral
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
    """Creates the missing persistent root nodes in one multi."""
    wanted = dict.fromkeys(step for root in paths.PERSISTENT_ROOTS for step in ancestors_of(root))
    while missing := [path for path in wanted if await tree.exists(path) is None]:
        try:
            await tree.multi([CreateOp(path) for path in missing])
        except MultiError as error:
            # Brokers of a new cluster start at the same time: the roots that another one created
            # are read again.
            if not isinstance(error.cause, NodeExistsError):
                raise error.cause from error


async def cluster_id(tree: MetadataTree) -> str:
    """Returns the cluster id; the first broker of a cluster creates a random one."""
    while True:
        try:
            data, _ = await tree.get(paths.CLUSTER_ID)
            return ClusterIdNode.decode(data).cluster_id
        except NoNodeError:
            await tree.ensure_path("/cluster")
        chosen = str(Uuid.random(secrets.token_bytes))
        try:
            await tree.create(paths.CLUSTER_ID, ClusterIdNode(chosen).encode())
        except NodeExistsError:
            continue
        return chosen


async def generate_broker_id(tree: MetadataTree, *, reserved_max: int = 1000) -> BrokerId:
    """Returns an unused broker id: the version of a node that every caller increments."""
    await tree.ensure_path(paths.BROKER_SEQUENCE_ID)
    stat = await tree.set(paths.BROKER_SEQUENCE_ID, b"")
    return BrokerId(reserved_max + stat.version)


class BrokerRegistration:
    """Registers one broker, again in each new session.

    `describe` returns the contents of the node. It is called at registration because the
    addresses are known only after the listeners are bound.
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
        """The epoch of the last registration; -1 before the first one."""
        return self._broker_epoch

    async def register(self) -> int:
        """Registers in the current session and returns the broker epoch.

        If another session owns the node, waits up to `wait_s` for it to expire, because it may be
        the session of this broker before a restart. After that
        it raises DUPLICATE_BROKER_REGISTRATION.
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
