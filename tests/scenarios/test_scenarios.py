"""Every scenario shows the same with our clients and with other Python clients on our broker.

A test is one scenario with all clients. The scenarios of one worker run side by side in threads,
because most of their time is spent waiting: the first test starts them all, and each test waits
for its own results. Java's clients take part where BARNABAS_KAFKA_JARS names their jars. With
`--kafka-external=host:port` the scenarios run on that cluster; docs/conformance.md says how it
has to be configured.
"""

import gc
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from scenarios import brokers
from scenarios.adapter import Client
from scenarios.catalog import AREAS, PYTHON_CLIENTS, applies, client_makers, scenarios
from scenarios.differences import DIFFERENCES
from scenarios.registry import KAFKA, SINGLE, Scenario
from scenarios.runner import FAILED, Result, run

from barnabas.pytest_plugin.fixtures import external_servers

THREADS = 12
GROUPS = 3
RESULT_SECONDS = 280.0

pytestmark = [
    pytest.mark.compat,
    # Other libraries leave sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def group_of(name: str) -> str:
    """The xdist group, so that a worker knows which scenarios it will be asked for."""
    return f"scenarios-{zlib.crc32(name.encode()) % GROUPS}"


class Runs:
    """Results by scenario, computed ahead by a pool of threads."""

    def __init__(self, selected: list[str], broker: str, control: brokers.Control) -> None:
        self._selected = selected
        self._broker = broker
        self._control = control
        self._clients: list[Client] = [make() for make in client_makers().values()]
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="scenario")
        self._futures: dict[str, list[Future[Result]]] = {}

    def results(self, name: str) -> list[Result]:
        if name not in self._futures:
            for other in self._selected:
                if group_of(other) == group_of(name):
                    self._futures[other] = self._start(scenarios()[other])
        return [future.result(RESULT_SECONDS) for future in self._futures[name]]

    def _start(self, scenario: Scenario) -> list[Future[Result]]:
        return [
            self._pool.submit(run, scenario, client, self._broker, self._control)
            for client in self._clients
            if applies(scenario, client.name, self._broker)
        ]

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        for client in self._clients:
            client.close()


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest) -> Iterator[Runs]:
    address = external_servers(request.config)
    items = [item for item in request.session.items if item.name.startswith("test_scenario[")]
    selected = [item.callspec.params["name"] for item in items]
    place = brokers.single() if address is None else brokers.kafka(address)
    with place as control:
        made = Runs(selected, SINGLE if address is None else KAFKA, control)
        yield made
        made.close()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xdist_group(group_of(name)))
        for name, scenario in scenarios().items()
        if SINGLE in scenario.brokers
    ],
)
def test_scenario(name: str, runs: Runs) -> None:
    results = runs.results(name)
    failed = [f"{result.client}: {result.reason}" for result in results if result.verdict == FAILED]
    assert not failed, "\n".join(failed)


def test_there_are_enough_scenarios_of_every_area() -> None:
    areas = Counter(scenario.area for scenario in scenarios().values())
    assert set(areas) == set(AREAS)
    assert sum(areas.values()) >= 120


def test_every_declared_difference_names_a_scenario_and_a_client() -> None:
    clients = {*PYTHON_CLIENTS, "java"}
    for name, client, *_ in DIFFERENCES:
        assert name in scenarios()
        assert client in clients


def test_every_declared_difference_names_observations_of_its_scenario() -> None:
    for (name, *_), declared in DIFFERENCES.items():
        expected = scenarios()[name].expected
        assert declared.outcomes
        for outcome in declared.outcomes:
            assert outcome.keys() <= expected.keys(), name
        assert not declared.allows(expected, {"something": "else"})
        assert any(outcome for outcome in declared.outcomes), f"{name} is no difference"
