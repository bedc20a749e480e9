"""The end of a log cut at every byte, with zeros, garbage or old bytes behind the cut.

After recovery from any such end, the log must end after its last whole batch, must have every batch
before it, and must have the same indexes, epochs and producers as a log without a damaged end.
"""

from random import Random

import pytest
from support.storage.log_world import LOG_DIR, contents, end_txn, open_at, put, snapshot

from barnabas.records.batch import iter_batches
from barnabas.storage import LogConfig
from barnabas.testing.memory_fs import MemoryFileSystem

pytestmark = pytest.mark.faults

NAME = "00000000000000000000.log"
CONFIG = LogConfig.from_values({"index.interval.bytes": "100"})


def written_log() -> bytes:
    """Batches of several producers, epochs and a transaction; the last three are the victims."""
    fs = MemoryFileSystem()
    fs.make_dirs(LOG_DIR)
    log = open_at(fs, config=CONFIG)
    put(log, (b"a", b"1"), (b"b", b"2"))
    put(log, (b"c", b"3"), producer_id=7, producer_epoch=0, base_sequence=0, epoch=1)
    txn = {"producer_id": 8, "producer_epoch": 0, "transactional": True}
    put(log, (b"d", b"4"), base_sequence=0, epoch=1, **txn)
    put(log, (b"e", b"5" * 30), base_sequence=1, epoch=2, **txn)
    end_txn(log, 8, commit=False)
    put(log, (b"f", b"6"), producer_id=7, producer_epoch=0, base_sequence=1, epoch=3)
    return fs.open(LOG_DIR / NAME).pread(10_000, 0)


def reopened(data: bytes):
    fs = MemoryFileSystem()
    fs.make_dirs(LOG_DIR)
    fs.open(LOG_DIR / NAME, create=True).pwrite(data, 0)
    return fs, open_at(fs, config=CONFIG, clean=False)


DATA = written_log()
BATCHES = list(iter_batches(DATA))
ENDS = [0, *(position + header.size for position, header in BATCHES)]
FIRST_CUT = ENDS[-4]
CLEAN = {end: snapshot(reopened(DATA[:end])[1]) for end in ENDS}


def tails(cut: int) -> dict[str, bytes]:
    dice = Random(cut)
    missing = len(DATA) - cut
    return {
        "nothing": b"",
        "zeros": bytes(missing + 100),
        "garbage": dice.randbytes(missing + 100),
        "old batches": DATA[: ENDS[2]],
    }


@pytest.mark.parametrize("tail", ["nothing", "zeros", "garbage", "old batches"])
def test_cut_at_every_byte(tail):
    for cut in range(FIRST_CUT, len(DATA) + 1):
        damaged = DATA[:cut] + tails(cut)[tail]
        # A batch that ends in a zero is whole again when zeros follow the cut.
        whole = max(end for end in ENDS if damaged[:end] == DATA[:end])
        fs, log = reopened(damaged)
        assert snapshot(log) == CLEAN[whole], (tail, cut)
        assert fs.size(LOG_DIR / NAME) == whole
        again = open_at(fs, config=CONFIG, clean=False)
        assert snapshot(again) == CLEAN[whole], (tail, cut)


def test_nothing_earlier_is_lost_and_the_log_goes_on():
    _, log = reopened(DATA[:-1])
    before = contents(log)
    assert [value for _, _, value in before] == [b"1", b"2", b"3", b"4", b"5" * 30]
    info = put(log, (b"g", b"7"), producer_id=7, producer_epoch=0, base_sequence=1, epoch=3)
    assert info.first_offset == 6
    assert contents(log)[-1] == (6, b"g", b"7")
