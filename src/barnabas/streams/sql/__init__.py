"""SQL over topics: statements define streams, tables and queries, and Spark runs them.

`language` parses statements, `catalog` stores the definitions in a compacted topic, `translation`
turns queries into the definitions of `barnabas.streams`, `engine` executes statements, and `cases`
runs test cases from files.
"""
