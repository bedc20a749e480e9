"""Translates queries to definitions of streams and tables. Pure; does not import Spark."""
