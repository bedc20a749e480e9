"""Exit codes, the same for every command, so that scripts can tell outcomes apart."""

DONE = 0
FAILED = 1
"""Kafka refused, or an item of several failed."""
USAGE = 2
CHECK_FAILED = 3
"""The command ran, and what it checked is not well (doctor, verifications)."""
INTERRUPTED = 130
