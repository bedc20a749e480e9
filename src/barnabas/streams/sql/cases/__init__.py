"""Cases: statements or a topology, records that go in, and what must come out, in files.

    orders_by_region/
      case.sql                  statements; or case.py with `topology()`
      input/orders.jsonl        records of a topic
      expected/totals.jsonl     what a stream, a table or a topic has in the end
      expected.jsonl            the rows of the last SELECT
      expected.error            or: a part of the error that the case must end with

A line of input is `{"key": …, "value": …, "timestamp": ms, "partition": n, "step": n}`; all but the
value may be left out. Values and keys that are text are written as they are, all else as JSON, and
null is a record without a value. Time is what the records say. The records of a step are all
there before the queries run on; then come those of the next.

An expected line has the keys that are to be compared: `key`, `value`, `timestamp`. Of a table the
newest record of each key counts; of a stream all count, and the order of those with one key.
"""
