"""Definitions brought to life on Structured Streaming; with `barnabas.spark` Spark's only door.

`rows` reads and writes topics, `lowering` turns nodes into frames, `grouping` and `joining` use
Spark's own streaming operators, whose state is in RocksDB. `state` keeps what Spark has no
operator for, tables above all; `maintained`, `table_joins` and `folding` work on it, a micro-batch
at a time. `stage_query` makes one streaming query of a stage, `assembly` all of a topology's.
"""
