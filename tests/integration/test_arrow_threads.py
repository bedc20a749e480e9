"""Arrow batches that several threads decompress: forks, Ctrl-C and the end of a program."""

import subprocess
import sys
import textwrap

import pytest

from barnabas import records

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not records.COMPILED, reason="the extensions are not built"),
]
START = """
import os, signal, sys, threading
from barnabas.model.records import Codec
from barnabas.records import _section_runs_hot
from barnabas.records.arrow import take_arrow
from barnabas.records.builder import build_batch
from barnabas.records.reader import FetchDecoder
_section_runs_hot.helper_count = lambda: 2
text = b"".join(b"%d, " % (number * 37 % 1001) for number in range(400))
data = [
    b"".join(
        bytes(build_batch([(None, text)] * 9, codec=codec, base_offset=9 * number, timestamp_ms=1))
        for number in range(200)
    )
    for codec in (Codec.LZ4, Codec.ZSTD)
]
def read():
    counts = [take_arrow(FetchDecoder(one, "t", 0)).num_rows for one in data]
    assert counts == [1800, 1800], counts
def helpers():
    return sum(thread.name.startswith("barnabas-helper") for thread in threading.enumerate())
read()
assert helpers() > 0
"""
PROGRAMS = {
    "fork": """
        if os.fork() == 0:
            assert helpers() == 0
            read()
            assert helpers() > 0
            sys.exit(7)
        read()
        _, status = os.wait()
        assert os.waitstatus_to_exitcode(status) == 7
    """,
    "a fork while other threads read": """
        stop = threading.Event()
        def reading():
            while not stop.is_set():
                read()
        others = [threading.Thread(target=reading) for _ in range(2)]
        for other in others:
            other.start()
        for _ in range(5):
            if os.fork() == 0:
                read()
                os._exit(7)
            _, status = os.wait()
            assert os.waitstatus_to_exitcode(status) == 7
        stop.set()
        for other in others:
            other.join()
    """,
    "at exit": """
        import atexit
        atexit.register(read)
    """,
    "a daemon thread at exit": """
        def reading():
            while True:
                read()
        threading.Thread(target=reading, daemon=True).start()
        read()
    """,
    "Ctrl-C": """
        def interrupt(*_):
            if armed:
                armed.clear()
                raise KeyboardInterrupt
        def interrupting():
            while not done.wait(0.002):
                os.kill(os.getpid(), signal.SIGINT)
        done, armed = threading.Event(), []
        signal.signal(signal.SIGINT, interrupt)
        thread = threading.Thread(target=interrupting)
        thread.start()
        for _ in range(20):
            try:
                armed.append(True)
                while True:
                    read()
            except KeyboardInterrupt:
                pass
        done.set()
        thread.join()
        read()
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_ends_without_errors(name):
    # Newer interpreters warn of forks of programs with threads.
    options = ["-X", "dev", "-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    done = subprocess.run(
        [sys.executable, *options, "-c", START + textwrap.dedent(PROGRAMS[name])],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
