"""What a consumer run has read: the columns of Apache's tool, whole or by interval."""

from dataclasses import dataclass
from datetime import UTC, datetime

from barnabas.model.errors import ConfigError

MEGABYTE = 1024 * 1024
COLUMNS = (
    "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, "
    "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
)
TOTAL_HEADER = f"start.time, end.time, {COLUMNS}"
DETAILED_HEADER = f"time, threadId, {COLUMNS}"
_FIELDS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "mm": "%M",
    "ss": "%S",
    "SSS": None,
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Where a run stands; times in milliseconds. `joining_ms` was spent without partitions."""

    at_ms: int
    records: int = 0
    size: int = 0
    joining_ms: int = 0


def figures(before: Reading, after: Reading, whole: Reading) -> str:
    """The columns: amounts of the `whole` run up to now, rates between two readings."""
    elapsed_ms = max(after.at_ms - before.at_ms, 1)
    joining_ms = after.joining_ms - before.joining_ms
    fetch_ms = max(elapsed_ms - joining_ms, 1)
    megabytes = (after.size - before.size) / MEGABYTE
    records = after.records - before.records
    return (
        f"{whole.size / MEGABYTE:.4f}, {megabytes * 1000 / elapsed_ms:.4f}, {whole.records}, "
        f"{records * 1000 / elapsed_ms:.4f}, {joining_ms}, {fetch_ms}, "
        f"{megabytes * 1000 / fetch_ms:.4f}, {records * 1000 / fetch_ms:.4f}"
    )


def moment(timestamp_ms: int, pattern: str) -> str:
    """A time by the usual letters of Java's SimpleDateFormat.

    >>> moment(1_700_000_000_123, "yyyy-MM-dd HH:mm:ss:SSS")
    '2023-11-14 22:13:20:123'
    """
    when = datetime.fromtimestamp(timestamp_ms // 1000, UTC)
    text, at = "", 0
    while at < len(pattern):
        end = at + 1
        while end < len(pattern) and pattern[end] == pattern[at]:
            end += 1
        text += _field(when, timestamp_ms, pattern[at:end])
        at = end
    return text


def _field(when: datetime, timestamp_ms: int, letters: str) -> str:
    if not letters[0].isalpha():
        return letters
    if letters not in _FIELDS:
        known = ", ".join(_FIELDS)
        raise ConfigError(f"--date-format: {letters!r} is not one of {known}")
    code = _FIELDS[letters]
    return f"{timestamp_ms % 1000:03d}" if code is None else when.strftime(code)
