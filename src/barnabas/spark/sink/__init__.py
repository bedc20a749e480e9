"""The sinks: write rows to topics and to databases, exactly once."""
