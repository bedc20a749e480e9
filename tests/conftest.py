"""Fixtures more than one test folder uses.

The product's own pytest plugin serves its tests too: `--kafka-external=host:port` runs what uses
the `broker` fixture against another cluster.
"""

import functools
import gc
import itertools
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_numbers = itertools.count()

# Every JVM of Spark that a test starts lives for seconds: the optimizing compiler, the parallel
# garbage collector and the verification of classes cost more CPU time than they save.
SHORT_LIFE = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
os.environ.setdefault("SPARK_SUBMIT_OPTS", SHORT_LIFE)
os.environ.setdefault("SPARK_LAUNCHER_OPTS", SHORT_LIFE)

# Collecting the tests creates a million objects that all live until the end of the run: the garbage
# collector would traverse them again and again. They are excluded from collection when all tests
# are known (`pytest_collection_finish`).
gc.disable()

# A shell script starts background processes with SIGINT ignored, and children inherit that: no
# program that a test starts would end by Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Hypothesis' time limits fail tests on a busy machine; no test asserts a wall-clock time.
settings.register_profile("barnabas", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("barnabas")


TESTS = Path(__file__).parent
LONGEST_FIRST = (
    "spark", "cluster", "faults", "console", "scenarios", "compat", "integration", "cli", "plugin",
    "property", "contract", "unit",
)  # fmt: skip
"""Groups and folders in the order in which workers get them: nobody waits for a long test at the
end of the run. `make test` turns off the order of pytest-xdist, which is by number of tests.
"""
WHOLE_MODULES = ("integration", "compat", "cli", "plugin", "unit")
"""Folders whose modules go to one worker as a whole: each starts its own brokers once then."""


def _group(item):
    mark = item.get_closest_marker("xdist_group")
    return mark.args[0] if mark else None


@functools.cache
def _module(path):
    """Folder below `tests` and path of a test module."""
    relative = path.relative_to(TESTS)
    return relative.parts[0], str(relative)


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item):
    folder, module = _module(item.path)
    if folder in WHOLE_MODULES and not _group(item):
        item.add_marker(pytest.mark.xdist_group(module))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    def rank(item):
        names = ((_group(item) or "").partition("-")[0], _module(item.path)[0])
        known = [LONGEST_FIRST.index(name) for name in names if name in LONGEST_FIRST]
        return min(known, default=len(LONGEST_FIRST))

    items.sort(key=rank)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item):
    """Let `caplog.text` look the same in every order of tests.

    pytest lends its handler to loggers that do not propagate, and PySpark's, once they are there,
    make whatever they are lent write JSON from then on.
    """
    logs = item.config.pluginmanager.get_plugin("logging-plugin")
    logs.caplog_handler.setFormatter(logs.formatter)
    return (yield)


@pytest.fixture(scope="session")
def broker(kafka_broker):
    """One real broker for the tests that share it; each test takes topics of its own."""
    return kafka_broker


@pytest.fixture
def topic_name(request):
    """A topic name no other test uses."""
    return f"{request.node.originalname[:100]}-{os.getpid()}-{next(_numbers)}"


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory):
    """One real ZooKeeper server for the tests that share it; each takes a chroot of its own.

    Mark those tests with xdist_group("zookeeper"), so that a run starts one server only.
    """
    from support.cluster.zookeeper import running_zookeeper  # kazoo is slow to import

    with running_zookeeper(tmp_path_factory.mktemp("zookeeper")) as server:
        yield server


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Three broker processes on a real ZooKeeper for the tests that share them.

    Mark those tests with xdist_group("cluster"); each leaves all brokers running.
    """
    from barnabas.testing import Cluster

    with Cluster(3, data_dir=tmp_path_factory.mktemp("cluster")) as running:
        yield running
