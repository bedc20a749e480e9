"""The declaration of the matrix: every axis exists, and cell names are unique."""

import zlib
from collections import Counter

import pytest

from benchmarks.loads.__main__ import MODULES
from benchmarks.matrix import plot_of
from benchmarks.matrix_cells import (
    CLIENTS,
    CONTENTS,
    PARTITIONS,
    POLL,
    PROCESSES,
    QUICK,
    SECURITY,
    SETTINGS,
    SIZES,
    broker_cells,
    client_cells,
    short_clients,
    workloads,
)
from benchmarks.workload import CODECS, Job, Workload, value_of, varied_values

AXES = {
    "size": SIZES,
    "content": ("plain", *CONTENTS),
    "codec": ("none", *CODECS),
    "partitions": (1, *PARTITIONS),
    "security": ("plaintext", *SECURITY),
    "processes": (1, PROCESSES),
    "settings": SETTINGS,
}


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("cells", [client_cells, broker_cells])
def test_every_value_of_an_axis_is_measured(axis, cells):
    loads = [cell.workload for cell in cells() if cell.workload.operation == "produce"]
    assert {getattr(load, axis) for load in loads} >= set(AXES[axis])


def test_every_way_to_read_is_measured():
    assert {load.operation for load in workloads()} == {
        "produce",
        "iterate",
        "batch",
        "arrow",
        "group",
    }


def test_names_of_cells_are_unique():
    names = Counter(load.name for load in workloads())
    assert [name for name, count in names.items() if count > 1] == []


def test_quick_cells_exist():
    assert {load.name for load in workloads()} >= QUICK


def test_a_goal_compares_clients_of_its_cell():
    for cell in client_cells():
        for goal in cell.goals:
            assert {goal.client, goal.beside} <= set(cell.clients), cell.name


def test_every_client_has_a_module_and_records_for_each_size():
    assert set(MODULES) == {*CLIENTS, POLL}
    for cell in client_cells():
        assert all(cell.records(client) >= 100 for client in cell.clients)


@pytest.mark.parametrize(
    ("load", "goals"),
    [
        (Workload("produce"), [1.5, 8, 0.8]),
        (Workload("produce", content="keys"), [1, 8, 0.8]),
        (Workload("produce", size=10_000), [1, 1, 0.8]),
        (Workload("iterate"), [2, 0.8, 0.8]),
        (Workload("batch"), [2.5, 0.8]),
        (Workload("batch", settings="tuned"), [1, 0.8]),
        (Workload("arrow"), [2]),
        (Workload("arrow", batches="1 record"), [1.2]),
    ],
)
def test_a_cell_has_the_goals_of_its_load(load, goals):
    (cell,) = [cell for cell in client_cells() if cell.workload == load]
    assert [goal.least for goal in cell.goals] == goals


def test_a_job_is_passed_as_text():
    job = Job(Workload("produce", codec="zstd", security="tls"), "h:1", "ca.pem", "t", 5)
    assert Job.from_text(job.to_text()) == job
    assert job.librdkafka_security["ssl.ca.location"] == "ca.pem"


@pytest.mark.parametrize("size", SIZES)
def test_values_have_the_size_of_the_cell(size):
    assert len(value_of(size)) == size


def test_varied_values_compress_as_events_do():
    values = varied_values(100)
    assert {len(value) for value in values} == {100}
    ratio = len(zlib.compress(b"".join(values), 1)) / 100_000
    assert 0.2 < ratio < 0.6


def test_a_short_run_has_every_cell():
    for cell in [*client_cells(), *broker_cells()]:
        kept = set(short_clients(cell))
        assert kept >= {"confluent", "barnabas"} & set(cell.clients), cell.name
        for goal in cell.goals:  # our clients' goals of plain cells stay
            if cell.workload == Workload(cell.workload.operation):
                assert {goal.client, goal.beside} <= kept, cell.name


def test_a_plain_cell_has_all_clients_in_a_short_run():
    (cell,) = [cell for cell in client_cells() if cell.workload == Workload("produce")]
    assert short_clients(cell) == cell.clients == CLIENTS


def test_cells_that_differ_in_size_share_a_plot():
    small, large = (plot_of(Workload("produce", size=size)) for size in (10, 1_000_000))
    assert small == large == "throughput by size: produce, defaults"
    assert plot_of(Workload("produce", codec="zstd")) == ""
