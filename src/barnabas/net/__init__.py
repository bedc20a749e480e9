"""Streams and connections: the listener and server connections, the client connection.

This package transfers frames. `wire` encodes and decodes their contents.
"""
