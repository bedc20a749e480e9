"""The metadata tree: ZooKeeper's data model as a port, with a real and an embedded adapter.

`tree` is the port, `sqlite_tree` the embedded adapter, `kazoo_tree` the adapter for a ZooKeeper
ensemble. `paths`, `znodes` and `config_znodes` are Kafka's layout of the tree.
"""
