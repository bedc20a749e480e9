import io

from barnabas.cli.framework.output import ProgressBar, duration_text


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_rate_and_eta():
    clock = Clock()
    progress = ProgressBar("copying", 1000, stream=Terminal(), now=clock)
    clock.now = 2.0
    progress.advance(500)
    assert progress.line() == "copying  [##########----------]  50%  500/1,000  250/s  ETA 0:02"


def test_an_unknown_end():
    clock = Clock()
    progress = ProgressBar("restoring", 0, stream=Terminal(), now=clock)
    clock.now = 1.0
    progress.advance(10)
    assert progress.line() == "restoring  10  10/s"


def test_only_on_a_terminal():
    for stream, enabled in ((io.StringIO(), True), (Terminal(), False)):
        with ProgressBar("x", 1, stream=stream, enabled=enabled) as progress:
            progress.advance(1)
        assert stream.getvalue() == ""


def test_redrawn_in_place_at_most_ten_times_a_second():
    clock, stream = Clock(), Terminal()
    with ProgressBar("x", 10, stream=stream, now=clock) as progress:
        for _ in range(5):
            progress.advance(1)
        clock.now = 0.2
        progress.advance(1)
    assert stream.getvalue().count("\r") == 3
    assert stream.getvalue().endswith("\n")


def test_durations_are_printed_as_minutes_and_seconds():
    assert [duration_text(s) for s in (0, 61, 36_000, -5)] == ["0:00", "1:01", "10:00:00", "0:00"]
