"""Children that end with their parent, by either method of noticing its death."""

import signal
import socket
import subprocess
import sys
import threading

import psutil
import pytest

from barnabas.runtime import child_process
from barnabas.runtime.child_process import KERNEL, PIPE, free_port, spawn

pytestmark = pytest.mark.integration

PARENT = """
import sys, time
from barnabas.runtime.child_process import spawn
child = spawn([sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"],
              method=sys.argv[1])
time.sleep(600)
"""
WAYS = pytest.mark.parametrize("method", [KERNEL, PIPE])


@WAYS
def test_a_killed_parent_takes_its_child_along(method):
    parent = subprocess.Popen([sys.executable, "-c", PARENT, method], stdout=subprocess.PIPE)
    assert parent.stdout.readline() == b"up\n"
    children = psutil.Process(parent.pid).children(recursive=True)
    parent.kill()
    parent.communicate(timeout=60)
    _, alive = psutil.wait_procs(children, timeout=60)
    assert children
    assert alive == []


@WAYS
def test_the_end_of_the_thread_that_asked_changes_nothing(method):
    started = []
    command = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]

    def start():
        started.append(spawn(command, method=method, stdout=subprocess.PIPE))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with started[0] as child:
        assert child.stdout.readline() == b"up\n"
        assert child.poll() is None
        child.terminate()
        assert child.wait(60) in (-signal.SIGTERM, 128 + signal.SIGTERM)


@WAYS
def test_the_exit_code_is_the_commands(method):
    with spawn([sys.executable, "-c", "raise SystemExit(7)"], method=method) as child:
        assert child.wait(60) == 7


@WAYS
def test_the_error_names_a_missing_program(method):
    with spawn(["/no/such/program"], method=method, stderr=subprocess.PIPE) as child:
        _, errors = child.communicate(timeout=60)
    assert child.returncode == 127
    assert b"/no/such/program: No such file" in errors


CHOOSE_AMONG = """
import sys
from barnabas.runtime import child_process
child_process._PORTS = range(int(sys.argv[1]), int(sys.argv[2]))
print(child_process.free_port())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reserves ports")
def test_a_chosen_port_is_not_chosen_again_before_its_server_listens(monkeypatch):
    port = free_port()
    monkeypatch.setattr(child_process, "_PORTS", range(port, port + 50))
    here = {free_port() for _ in range(10)}
    command = [sys.executable, "-c", CHOOSE_AMONG, str(port), str(port + 50)]
    elsewhere = {int(subprocess.check_output(command, timeout=60)) for _ in range(5)}
    assert len(here) == 10
    assert not ({port} | here) & elsewhere
    with socket.create_server(("127.0.0.1", port)) as server:
        assert server.getsockname()[1] == port
