"""Committed offsets: stored, pending in transactions, fetched, deleted, expired."""
