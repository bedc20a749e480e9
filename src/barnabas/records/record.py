"""The two types of records: `Record` for consumers, `RawRecord` for the broker itself.

`Record` is defined beside the decoder that builds it, so that both compile as one unit.
"""

from barnabas.records._record_hot import Record
from barnabas.records.raw_record import RawRecord

__all__ = ["RawRecord", "Record"]
