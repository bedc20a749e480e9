"""Logs: offsets, sizes, files, deletion."""
