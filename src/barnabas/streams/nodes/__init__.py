"""The definitions: a frozen graph of what is to be computed, apart from how it is run. Pure.

Every row has, beside its own columns:

- `_key`: the record's key, of the type its topic or its last re-keying says (string by default);
- `_timestamp`: the record's time, or what the topic's `timestamp` expression makes of the row;
- `_tombstone`: true for a record without a value: of a table, the key's deletion;
- `_partition`, `_offset`: where the record lies; null after a grouping or a join.

Expressions are Spark SQL texts over these and the row's own columns. Where a function is allowed,
it is Python's: called with a record (the dataclass the schema came from, or an object with the
columns as attributes). A node is equal to itself only: a graph is told by who points at whom.
"""

from barnabas.streams.nodes.groups import Aggregate, Fold
from barnabas.streams.nodes.joins import Join, JoinKind, StreamJoin, StreamTableJoin, TableJoin
from barnabas.streams.nodes.node import ErrorPolicy, Node, OneParent, OnError
from barnabas.streams.nodes.sinks import CallSink, FormatSink, RecordSink, Sink, TopicSink, ViewSink
from barnabas.streams.nodes.stateless import (
    Apply,
    Changes,
    Map,
    MapStyle,
    Merge,
    Named,
    RecordSource,
    Rekey,
    Select,
    Source,
    Through,
    Where,
)
from barnabas.streams.nodes.topics import Expression, Topic

__all__ = [
    "Aggregate",
    "Apply",
    "CallSink",
    "Changes",
    "ErrorPolicy",
    "Expression",
    "Fold",
    "FormatSink",
    "Join",
    "JoinKind",
    "Map",
    "MapStyle",
    "Merge",
    "Named",
    "Node",
    "OnError",
    "OneParent",
    "RecordSink",
    "RecordSource",
    "Rekey",
    "Select",
    "Sink",
    "Source",
    "StreamJoin",
    "StreamTableJoin",
    "TableJoin",
    "Through",
    "Topic",
    "TopicSink",
    "ViewSink",
    "Where",
]
