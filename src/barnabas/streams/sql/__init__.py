"""SQL over topics: streams, tables and queries by statement, run by Spark.

`language` reads statements, `catalog` keeps what they defined, `translation` turns queries into
the definitions of `barnabas.streams`, `engine` does what statements ask for.
"""
