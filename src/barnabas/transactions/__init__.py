"""The transaction coordinator: a pure shard per `__transaction_state` partition.

Start with `shard.TransactionCoordinatorShard`. `partition_leader` is the side of the partition
leader in KIP-890.
"""
