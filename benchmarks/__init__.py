"""Benchmarks; each figure is also a ratio to a peer, or to the machine's limit, in the same run."""
