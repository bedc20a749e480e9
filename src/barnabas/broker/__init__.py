"""The broker: dispatch of requests to one handler per API, and the parts that handlers share.

`app.Broker` is the composition root: the only place where storage, replication, the metadata
tree, the controller and the network meet.
"""
