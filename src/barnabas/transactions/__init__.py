"""The transaction coordinator: a pure, event-sourced shard per `__transaction_state` partition.

Start with `shard.TransactionCoordinatorShard`. `verification` and `marker_rules` are the partition
leader's side of KIP-890.
"""
