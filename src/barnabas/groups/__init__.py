"""The group coordinator: classic groups, KIP-848 consumer groups and committed offsets.

Pure state machines: `(request, now_ms) -> Outcome(reply, records, timers)`. No socket, disk, clock
or dice; `barnabas.broker` drives `GroupCoordinatorShard` and does the IO an `Outcome` asks for.
"""
