"""Metrics of the clients: values, reading, reporters, and the push to brokers (KIP-714)."""
