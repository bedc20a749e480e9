"""The drivers of the group and transaction coordinators: logs, timers and replies around them."""
