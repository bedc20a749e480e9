"""Measuring: `perf` and what it counts with."""
