"""The errors of this package beyond `CorruptRecordError`, which lives in `model` for all layers."""

from collections.abc import Mapping

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError


class RefusedRecordsError(BrokerError):
    """A batch is rejected because of some records; `problems` maps their index to the cause."""

    def __init__(self, code: ErrorCode, problems: Mapping[int, str]) -> None:
        number, problem = next(iter(problems.items()))
        super().__init__(code, f"{len(problems)} records are refused; record {number}: {problem}")
        self.problems = problems


class DecompressedTooLargeError(CorruptRecordError):
    """A compressed batch exceeds the size limit; it was rejected before it was expanded.

    It is a `CorruptRecordError` so that a reader that only knows good from bad stays safe; the
    broker tells the two apart, since a producer answered MESSAGE_TOO_LARGE splits its batch.
    """

    def __init__(self, compressed_size: int, max_size: int) -> None:
        super().__init__(
            f"{compressed_size} compressed bytes hold more than the {max_size} bytes allowed"
        )
        self.compressed_size = compressed_size
        self.max_size = max_size
