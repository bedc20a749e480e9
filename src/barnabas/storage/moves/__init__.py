"""Moves of logs between the log directories of a broker (KIP-113)."""
