"""Classic groups: the Join/Sync/Heartbeat/Leave protocol with assignment by the leader."""
