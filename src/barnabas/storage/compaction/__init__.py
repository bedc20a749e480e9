"""Compaction: keep the newest record of every key, at its offset, and drop the rest."""
