"""Record batches: build, walk, validate, compress; bytes in, bytes or records out, no IO."""

from barnabas.records._append_hot import COMPILED as _APPEND_COMPILED
from barnabas.records._records_hot import COMPILED as _RECORDS_COMPILED

COMPILED: bool = _APPEND_COMPILED and _RECORDS_COMPILED
"""Whether the hot paths run compiled; they work either way, about ten times slower if not."""

__all__ = ["COMPILED"]
