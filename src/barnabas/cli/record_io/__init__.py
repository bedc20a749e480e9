"""Selects, reads, filters, prints and writes records."""
