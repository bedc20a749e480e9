"""Leaders and followers of partitions: in-sync replicas, high watermark, epochs, fetching.

Pure rules (`isr`, `high_watermark`, `epochs`, `unclean_start`, `read_replica`), the replica that
applies them (`partition`), all replicas of a broker (`replica_manager`), and the fetchers that
follow leaders.
"""
