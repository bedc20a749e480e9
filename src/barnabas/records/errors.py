"""Errors of this package, except `CorruptRecordError`, which is in `model` for all layers."""

from collections.abc import Mapping

from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import BrokerError, CorruptRecordError


class RefusedRecordsError(BrokerError):
    """A batch is rejected because of some records; `problems` maps their index to the cause."""

    def __init__(self, code: ErrorCode, problems: Mapping[int, str]) -> None:
        number, problem = next(iter(problems.items()))
        super().__init__(code, f"{len(problems)} records are refused; record {number}: {problem}")
        self.problems = problems


class OversizedBatchError(BrokerError):
    """A batch decompresses to more bytes than the rules allow."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.MESSAGE_TOO_LARGE, message)


class DecompressedTooLargeError(CorruptRecordError):
    """A compressed batch exceeds the size limit; it was rejected before it was expanded.

    It is a `CorruptRecordError` for readers that do not distinguish the causes. The broker does:
    after MESSAGE_TOO_LARGE a producer would split the batch.
    """

    def __init__(self, compressed_size: int, max_size: int) -> None:
        super().__init__(
            f"{compressed_size} compressed bytes hold more than the {max_size} bytes allowed"
        )
        self.compressed_size = compressed_size
        self.max_size = max_size
