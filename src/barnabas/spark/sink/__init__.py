"""The sinks: rows into topics, and rows into a database, each of them exactly once."""
