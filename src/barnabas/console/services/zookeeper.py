"""The ZooKeeper tree, read-only. The data of nodes with credentials is not read."""

from barnabas import zk
from barnabas.console.models.cluster import TreeNode
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError
from barnabas.zk.tree import MetadataTree, NoNodeError

_SECRET_PATHS = ("/config/users", "/delegation_token", "/delegation_tokens")
_CONNECT_S = 5.0
_MAX_SHOWN_BYTES = 64 * 1024
_MAX_CHILDREN = 5000


class ZooKeeperService:
    """Opens one session at the first use."""

    def __init__(self, address: str | None) -> None:
        self._address = address
        self._tree: MetadataTree | None = None

    async def node(self, path: str) -> TreeNode:
        """Returns the data and the children of a node."""
        tree = await self._connected()
        try:
            data, _ = await tree.get(path)
            children = await tree.children(path)
        except NoNodeError:
            raise BrokerError(ErrorCode.RESOURCE_NOT_FOUND, f"there is no node {path}") from None
        hidden = path.startswith(_SECRET_PATHS)
        shown = data[:_MAX_SHOWN_BYTES].decode("utf-8", "backslashreplace")
        return TreeNode(
            path=path,
            children=sorted(children)[:_MAX_CHILDREN],
            data=None if hidden else shown,
            size=len(data),
        )

    async def close(self) -> None:
        if self._tree is not None:
            await self._tree.close()

    async def _connected(self) -> MetadataTree:
        if self._address is None:
            raise BrokerError(
                ErrorCode.RESOURCE_NOT_FOUND, "the console was started without --zookeeper"
            )
        if self._tree is None:
            self._tree = await zk.connect(self._address, connect_timeout_s=_CONNECT_S)
        return self._tree
