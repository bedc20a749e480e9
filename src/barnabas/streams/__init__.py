"""Streams and tables over topics. Spark's Structured Streaming runs them.

Definitions are frozen and do not import Spark; `Runner` compiles and runs them.
"""

from barnabas.streams.dsl import Groups, Stream, Table
from barnabas.streams.nodes import Topic
from barnabas.streams.run import Runner, Running
from barnabas.streams.schema import Schema
from barnabas.streams.stages import LostStateError
from barnabas.streams.topology import Function, Topology, vectorised
from barnabas.streams.views import TableView
from barnabas.streams.windows import Emit, Window, hopping, session, sliding, tumbling

__all__ = [
    "Emit",
    "Function",
    "Groups",
    "LostStateError",
    "Runner",
    "Running",
    "Schema",
    "Stream",
    "Table",
    "TableView",
    "Topic",
    "Topology",
    "Window",
    "hopping",
    "session",
    "sliding",
    "tumbling",
    "vectorised",
]
