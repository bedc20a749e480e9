"""Parses statements and queries into frozen values. Does not import Spark or the clients."""
