"""Runs definitions on Structured Streaming; besides `barnabas.spark` the only package with PySpark.

`rows` reads and writes topics. `lowering` turns nodes into frames. `aggregates` and `joins` use
Spark's own streaming operators, whose state is in RocksDB, or tables in `state`, a micro-batch at a
time. `python_rows` calls users' functions. `stage_query` creates one streaming query of a stage,
`assembly` all queries of a topology.
"""
