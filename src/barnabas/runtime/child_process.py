"""Child processes that end with their parent, even when the parent is killed.

`spawn` starts a command through this file, which runs as a script. On Linux the script requests a
signal from the kernel for the death of its parent (PR_SET_PDEATHSIG) and then replaces itself by
the command, so the process id is that of the command. On other systems the script runs the command
as a child and kills it when the pipe from the parent closes.

`free_port` chooses the port of a server that is about to be started as a child.
"""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

KERNEL, PIPE = "kernel", "pipe"
_PR_SET_PDEATHSIG = 1
_USAGE = 2
_PORTS = range(15_000, 32_000)
_RESERVED_PORTS = 64
_reservations: deque[int] = deque()  # file descriptors; the end of the process closes them


def default_method() -> str:
    """Returns how this system detects the death of the parent: KERNEL or PIPE."""
    return KERNEL if sys.platform == "linux" else PIPE


def spawn(
    command: Sequence[str], *, method: str | None = None, **options: object
) -> "subprocess.Popen[Any]":
    """Starts a command that is killed when this process ends.

    Args:
        command: The program and its arguments.
        method: KERNEL or PIPE; the default is `default_method()`.
        options: Passed to `subprocess.Popen`. With PIPE, the command runs only while
            the pipe `stdin` is open: `communicate()` closes it.

    Raises:
        OSError: The process cannot be started.
    """
    method = method or default_method()
    wrapped = [sys.executable, "-I", "-S", __file__, method, str(os.getpid()), *command]
    if method == PIPE:
        options["stdin"] = subprocess.PIPE
    # The kernel sends the signal when the forking thread ends, not the process, so a thread that
    # lives as long as the process has to fork.
    return _spawner.start(wrapped, options)


def free_port(host: str = "127.0.0.1") -> int:
    """Returns a port that is free now, and that no other call returns soon.

    The port must stay free until its server listens, and while it is down, so it is outside the
    range of ephemeral ports that the operating system assigns to outgoing connections. On Linux
    the last ports of this process stay reserved, also for calls in other processes.
    """
    import socket  # start-up time: the script does not need it

    while True:
        port = _PORTS.start + int.from_bytes(os.urandom(4)) % len(_PORTS)
        reservation = socket.socket()
        try:
            # Without SO_REUSEADDR this fails if anyone has bound the port, even without listen().
            reservation.bind((host, port))
            # From now on, a server that sets SO_REUSEADDR may listen on the port.
            reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        except OSError:
            reservation.close()
            continue
        _reserve(reservation)
        return port


def _reserve(reservation: "socket.socket") -> None:
    """Keeps the port of a bound socket for its server, as one of the last of this process."""
    if sys.platform == "linux":  # elsewhere, SO_REUSEADDR does not let two sockets share a port
        _reservations.append(reservation.detach())
    else:
        reservation.close()
    while len(_reservations) > _RESERVED_PORTS:
        os.close(_reservations.popleft())


class _Spawner:
    """Starts all children on one thread that runs until the process ends."""

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[tuple[Sequence[str], dict[str, Any], Future[Any]]] = (
            queue.SimpleQueue()
        )
        self._lock = threading.Lock()
        self._thread_of_process: int | None = None

    def start(self, command: Sequence[str], options: dict[str, object]) -> "subprocess.Popen[Any]":
        with self._lock:
            if self._thread_of_process != os.getpid():  # a fork does not copy threads
                self._thread_of_process = os.getpid()
                threading.Thread(target=self._run, name="child-spawner", daemon=True).start()
        started: Future[Any] = Future()
        self._requests.put((command, options, started))
        process: subprocess.Popen[Any] = started.result()
        return process

    def _run(self) -> None:
        while True:
            command, options, started = self._requests.get()
            try:
                started.set_result(subprocess.Popen(command, **options))
            except BaseException as error:  # noqa: BLE001 - raised in the calling thread
                started.set_exception(error)


_spawner = _Spawner()


def _replace_process(parent: int, command: Sequence[str]) -> None:
    """Replaces this process by the command; the kernel kills it when the parent dies."""
    import ctypes  # start-up time: only the script needs it

    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if os.getppid() != parent:  # the parent ended before prctl()
        sys.exit(1)
    os.execvp(command[0], list(command))


def _guard(command: Sequence[str]) -> int:
    """Runs the command, forwards signals to it, and kills it when standard input closes."""
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: child.send_signal(number))
    threading.Thread(target=_kill_at_end_of_input, args=(child,), daemon=True).start()
    code = child.wait()
    return code if code >= 0 else 128 - code


def _kill_at_end_of_input(child: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 1):
        pass
    child.kill()


def _main(arguments: Sequence[str]) -> int:
    if len(arguments) < 3 or arguments[0] not in (KERNEL, PIPE):
        sys.stderr.write("usage: child_process.py kernel|pipe PARENT COMMAND…\n")
        return _USAGE
    try:
        if arguments[0] == KERNEL:
            _replace_process(int(arguments[1]), arguments[2:])
        return _guard(arguments[2:])
    except OSError as error:
        sys.stderr.write(f"{arguments[2]}: {error.strerror}\n")
        return 127


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
