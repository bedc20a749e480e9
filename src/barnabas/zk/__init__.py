"""The metadata tree: ZooKeeper's data model as a port, with a real and an embedded adapter.

`tree` is the port, `sqlite_tree` the embedded adapter, `kazoo_tree` the one that talks to a
ZooKeeper ensemble (and the only importer of kazoo), `paths` and `znodes` Kafka's layout on it.
"""
