"""Queries turned into definitions of streams and tables; pure, without Spark."""
