"""Stopping queries, also if one of them does not stop, and the reports of short micro-batches."""

import pytest

from barnabas.streams.run import Running, short_reason


class Part:
    """A query or a stage that records its stop, or fails to stop."""

    def __init__(self, name, done, error=None):
        self._name, self._done, self._error = name, done, error

    def stop(self):
        if self._error is not None:
            raise self._error
        self._done.append(self._name)

    close = stop


def test_stop_stops_all_queries_and_raises_the_first_error():
    done = []
    stages = [Part(f"stage {n}", done) for n in range(4)]
    refusals = [RuntimeError("first"), RuntimeError("second")]
    queries = [Part("a", done), Part("b", done, refusals[0]), Part("c", done, refusals[1])]
    with pytest.raises(RuntimeError, match="first"):
        Running("test", stages, queries).stop()
    assert done == ["a", "stage 0", "stage 3"]


def test_a_stage_that_never_started_is_closed():
    done = []
    Running("test", [Part("stage 0", done), Part("stage 1", done)], [Part("a", done)]).stop()
    assert done == ["a", "stage 0", "stage 1"]


class Reports:
    """The reports of a query; counts how often all of them are read."""

    def __init__(self):
        self.all, self.reads = [], 0

    @property
    def lastProgress(self):
        return self.all[-1] if self.all else None

    @property
    def recentProgress(self):
        self.reads += 1
        return list(self.all)


def executed(batch):
    return {"batchId": batch, "numInputRows": 5, "durationMs": {"addBatch": 1}}


def idle(batch):
    return {"batchId": batch, "numInputRows": 0, "durationMs": {"latestOffset": 1}}


def test_micro_batches_between_two_calls_are_reported():
    query = Reports()
    running = Running("test", [], [query])
    assert running.progress_after(None) == []
    query.all += [executed(7), executed(8)]
    assert running.progress_after(None) == [executed(7), executed(8)]
    query.all += [executed(9), executed(10), idle(11)]
    assert running.progress_after(8) == [executed(9), executed(10), idle(11)]


def test_one_report_is_read_if_no_micro_batch_was_missed():
    query = Reports()
    running = Running("test", [], [query])
    for report, batch in ((idle(0), -1), (executed(0), -1), (executed(0), 0), (idle(1), 0)):
        query.all.append(report)
        assert running.progress_after(batch) == [report]
    assert query.reads == 0


IN_JAVA = """\
An error occurred while calling o137.start.
: java.io.IOException: Mkdirs failed to create file:/nowhere/checkpoint
\tat org.apache.hadoop.fs.ChecksumFileSystem.create(ChecksumFileSystem.java:774)
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""
IN_PYTHON = """\
An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
  File "barnabas/spark/sink/database.py", line 90, in _write
    cursor.executemany(insert, chunk)
sqlite3.OperationalError: no such table: counts
"""
OWN = """\
[STREAM_FAILED] Query [id = 1] terminated with exception: Traceback (most recent call last):
barnabas.model.errors.BrokerError: UNKNOWN_TOPIC_OR_PARTITION: topic 'orders'
java.lang.IllegalStateException: closed
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (IN_JAVA, "IOException: Mkdirs failed to create file:/nowhere/checkpoint"),
        (IN_PYTHON, "OperationalError: no such table: counts"),
        (OWN, "UNKNOWN_TOPIC_OR_PARTITION: topic 'orders'"),
        ("[PARSE_ERROR] Syntax error\n\n== SQL ==", "[PARSE_ERROR] Syntax error"),
    ],
)
def test_the_reason_of_a_failed_query(text, reason):
    assert short_reason(Exception(text)) == reason
