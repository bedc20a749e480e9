"""Kafka's wire protocol: messages, headers and frames, as bytes in memory; no input or output."""
