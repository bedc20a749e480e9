"""Kafka's wire protocol: messages, headers and frames, encoded to and decoded from bytes; no IO."""
