"""Statements of `sql` in a thread: results, errors, the line with the step, Ctrl-C."""

import io
import os
import signal
import threading

import pytest

from barnabas.cli.nouns.sql_foreground import Foreground, Interrupted, StepLine

WAIT = 30.0


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Work:
    """A statement that runs until `end` is set, and presses Ctrl-C when it has begun."""

    def __init__(self, presses=1):
        self.end = threading.Event()
        self.asked = threading.Event()
        self._presses = presses

    def run(self):
        for _ in range(self._presses):
            os.kill(os.getpid(), signal.SIGINT)
            self.asked.wait(WAIT)
        self.end.wait(WAIT)
        return "result"


def foreground(interrupt=lambda: None, step=lambda: None):
    return Foreground(step, interrupt, StepLine(io.StringIO()))


def test_results_and_errors_reach_the_caller():
    runner = foreground()
    threads = [runner.call(threading.current_thread) for _ in range(2)]
    assert threads[0] is threads[1] is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        runner.call(lambda: 1 // 0)


def test_ctrl_c_asks_the_statement_to_end_and_waits_for_it():
    work = Work()

    def interrupt():
        work.asked.set()
        work.end.set()

    runner = foreground(interrupt)
    with pytest.raises(Interrupted):
        runner.call(work.run)
    assert work.end.is_set()
    assert runner.call(lambda: "next") == "next"


def test_ctrl_c_asks_again_while_the_statement_goes_on():
    work, asked = Work(), []

    def interrupt():
        work.asked.set()
        asked.append(threading.current_thread())
        if len(asked) == 3:
            work.end.set()

    with pytest.raises(Interrupted):
        foreground(interrupt).call(work.run)
    assert len(asked) == 3
    assert threading.main_thread() not in asked


@pytest.mark.parametrize(("presses", "patience"), [(2, WAIT), (1, 0.2)])
def test_a_second_ctrl_c_or_the_time_limit_leaves_a_statement_that_does_not_end(presses, patience):
    work = Work(presses)
    with pytest.raises(KeyboardInterrupt):
        foreground(work.asked.set).call(work.run, stop_timeout_s=patience)
    work.end.set()


def test_a_terminal_shows_a_step_after_a_second():
    terminal, clock = Terminal(), Clock()
    line = StepLine(terminal, clock)
    line.show("starting Spark")
    assert terminal.getvalue() == ""
    clock.now = 12.4
    line.show("starting Spark")
    assert terminal.getvalue() == "\r\x1b[Kstarting Spark ... 12 s"
    line.output()
    assert terminal.getvalue().endswith("\r\x1b[K")
    line.show("starting Spark")
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_without_a_terminal_a_long_step_is_reported():
    stream, clock = io.StringIO(), Clock()
    line = StepLine(stream, clock)
    for clock.now in (0.0, 9.0, 10.0, 11.0, 69.0, 70.0):
        line.show("waiting for rows")
    line.show("reading the definitions")
    assert stream.getvalue() == (
        "barnabas sql: waiting for rows, for 10 s\nbarnabas sql: waiting for rows, for 70 s\n"
    )
