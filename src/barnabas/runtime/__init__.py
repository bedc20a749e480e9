"""Utilities of a running process: clock, timers, rate-limited logging, child processes, Java."""
