"""What keys and values mean: bytes to typed columns and back.

`raw` and `string` need no schema; `json`, `csv` and `avro` (plain, or behind the five bytes that
Confluent's serializers write) do. Decoding goes from Arrow to Arrow, in the source's tasks by the
options `value.format` and `key.format`, or on any frame by `decode`; what does not decode fails the
query, becomes null, or goes to a dead-letter topic.
"""
