"""The broker: dispatches requests to one handler per API, and has the parts that handlers share.

`app.Broker` is the composition root: the only place that combines storage, replication, the
metadata tree, the controller and the network.
"""
