"""Formats of keys and values: bytes to typed columns and back.

`raw` and `string` need no schema; `json`, `csv` and `avro` (plain, or after the five bytes that
Confluent's serializers write) do. Decoding is from Arrow to Arrow, in the source's tasks with the
options `value.format` and `key.format`, or on any frame with `decode`. A value that cannot be
decoded fails the query, becomes null, or becomes a dead letter.
"""
