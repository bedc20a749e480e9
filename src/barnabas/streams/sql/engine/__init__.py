"""Executes statements; one module per group of statements."""
