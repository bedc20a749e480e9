"""Streams and connections: the listener and server connections, the client connection.

This package moves frames. What is inside a frame is the business of `wire` and of whoever
handles it.
"""
