"""The three indexes beside a segment: by offset, by time, and of aborted transactions."""
