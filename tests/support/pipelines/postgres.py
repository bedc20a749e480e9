"""A real PostgreSQL server on a free port with a separate directory, if it is installed."""

import contextlib
import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from barnabas.runtime.child_process import free_port

USER = "postgres"
START_SECONDS = 60


def missing():
    """Why there can be no server here; None when there can."""
    for program in ("initdb", "postgres"):
        if shutil.which(program) is None:
            return f"there is no {program} on this machine"
    if os.getuid() == 0:
        try:
            pwd.getpwnam(USER)
        except KeyError:
            return f"PostgreSQL does not run as root, and there is no user {USER!r}"
    return None


@contextlib.contextmanager
def postgres_server():
    """Yields the URL of a database, or None where there can be no server."""
    if missing() is not None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="barnabas-postgres-") as directory:
        place = Path(directory)
        identity = _identity(place)
        _initialise(place / "data", identity)
        port = free_port()
        # The tests do not need durability after a power loss, and fsync is slow.
        command = ["postgres", "-D", str(place / "data"), "-p", str(port), "-k", directory]
        command += ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]
        with (place / "log").open("wb") as log:
            server = subprocess.Popen(
                _which(command), stdout=log, stderr=log, cwd=place, **identity
            )
        try:
            user = USER if identity else getpass.getuser()
            url = f"postgresql://{user}@127.0.0.1:{port}/postgres"
            _wait(url, server, place / "log")
            yield url
        finally:
            server.terminate()
            server.wait(30)


def _identity(place):
    """PostgreSQL does not run as root: it then runs as its own user, which gets the directory."""
    if os.getuid() != 0:
        return {}
    entry = pwd.getpwnam(USER)
    os.chown(place, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _initialise(data, identity):
    command = ["initdb", "-D", str(data), "-A", "trust", "-E", "UTF8", "--no-sync"]
    command += ["-U", USER] if identity else []
    done = subprocess.run(
        _which(command), capture_output=True, text=True, cwd=data.parent, check=False, **identity
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _which(command):
    """The program behind a link: it searches its files in its own directory."""
    return [os.path.realpath(shutil.which(command[0])), *command[1:]]


def _wait(url, server, log):
    import psycopg

    deadline, pause = time.monotonic() + START_SECONDS, threading.Event()
    while True:
        try:
            psycopg.connect(url, connect_timeout=5).close()
            return
        except psycopg.OperationalError:
            told = log.read_text(errors="replace")[-2000:]
            assert server.poll() is None, told
            assert time.monotonic() < deadline, told
        pause.wait(0.1)
