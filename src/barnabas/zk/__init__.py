"""The metadata tree: ZooKeeper's data model as a port, with a real and an embedded adapter.

`tree` is the port, `sqlite_tree` the embedded adapter, `kazoo_tree` the adapter for a ZooKeeper
ensemble. `paths`, `znodes` and `config_znodes` are Kafka's layout of the tree.

`connect` opens a session on an ensemble. It is imported on first use: kazoo is an optional extra
and slow to import.
"""

from typing import TYPE_CHECKING

from barnabas.model.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from barnabas.zk.kazoo_tree import connect

_MODULE_OF = {"connect": "barnabas.zk.kazoo_tree"}

__all__ = ["connect"]

__getattr__ = lazy_exports(__name__, _MODULE_OF)
