"""Processes of clients: several jobs in one process, and a job that fails."""

import pytest

from barnabas.testing import Broker
from benchmarks.client_processes import ClientProcesses
from benchmarks.workload import Job, Workload


def test_a_process_serves_jobs_one_after_the_other():
    load = Workload("produce", client="barnabas")
    with Broker(in_memory=True) as broker, ClientProcesses() as clients:
        broker.topic("a", partitions=1)
        job = Job(load, broker.bootstrap_servers, "", "a", 50)
        (first,) = clients.run(job, 1)
        both = clients.run(job, 2)
        read = Job(Workload("iterate", client="barnabas"), broker.bootstrap_servers, "", "a", 100)
        (seen,) = clients.run(read, 1)
    assert [figures["count"] for figures in (first, *both)] == [50, 50, 50]
    assert seen["count"] == 99  # the first record starts the time


def test_a_job_that_fails_is_named_and_the_next_one_runs(capfd):
    with Broker(in_memory=True) as broker, ClientProcesses() as clients:
        broker.topic("a", partitions=1)
        job = Job(Workload("produce", client="barnabas"), broker.bootstrap_servers, "", "a", 50)
        wrong = Job(job.workload, "no address", "", "a", 50)
        with pytest.raises(RuntimeError, match=r"barnabas failed .* 'produce, 100 B, defaults'"):
            clients.run(wrong, 1)
        assert clients.run(job, 1)[0]["count"] == 50
    assert "Error" in capfd.readouterr().err
