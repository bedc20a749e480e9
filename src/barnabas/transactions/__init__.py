"""The transaction coordinator: a pure, event-sourced shard per `__transaction_state` partition.

Start reading at `shard.TransactionCoordinatorShard`, whose docstring tells a driver what to do.
`verification` and `marker_rules` hold the partition leader's half of KIP-890.
"""
