"""Benchmarks: what was measured, as a ratio to a peer or to the machine's limit in the same run."""
