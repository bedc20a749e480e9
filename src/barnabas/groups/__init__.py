"""The group coordinator: classic groups, KIP-848 consumer groups and committed offsets.

Pure state machines: an operation takes a request and `now_ms` and returns a `GroupOutcome` with the
reply, records and timers. The package uses no socket, disk, clock or random numbers;
`barnabas.broker.coordinators` runs `GroupCoordinatorShard` and executes its outcomes.
"""
