"""Leaders and followers of partitions: in-sync replicas, high watermark, epochs, fetching.

Pure rules (`isr`, `epochs`, `safety_rules`), the replica that applies them
(`partition`), reads from it (`partition_reader`), all replicas of a broker (`replica_manager`) and
the fetchers that copy records from leaders.
"""
