"""The report of the doctor about a reachable cluster: controller, versions, replicas, clocks."""

import contextlib

import pytest

from barnabas.admin import (
    ApiVersionRange,
    ClusterDescription,
    ListedOffset,
    Node,
    PartitionDescription,
    Results,
    TopicDescription,
    TopicListing,
)
from barnabas.cli.framework.connection import Connection
from barnabas.cli.nouns.doctor import NEEDED, check_cluster
from barnabas.model.errors import UnavailableError
from barnabas.model.ids import Uuid
from barnabas.runtime.clock import SystemClock

TOPIC_ID = Uuid(b"t" * 16)


class Patient:
    """A cluster of two brokers with one topic of two partitions, all well."""

    def __init__(self):
        self.controller = 1
        self.apis = {1: NEEDED, 2: NEEDED}
        self.partitions = [
            PartitionDescription(0, 1, 0, (1, 2), (1, 2)),
            PartitionDescription(1, 2, 0, (2, 1), (2, 1)),
        ]
        self.newest_ms = 0

    def describe_cluster(self):
        return ClusterDescription("id", self.controller, (Node(1, "a", 1), Node(2, "b", 2)))

    def describe_api_versions(self, broker_id):
        if self.apis[broker_id] is None:
            raise UnavailableError("no answer")
        return [ApiVersionRange(n, name, 0, 9) for n, name in enumerate(self.apis[broker_id])]

    def list_topics(self, *, internal):
        return [TopicListing("t", TOPIC_ID, False)]

    def describe_topics(self, names):
        return Results({"t": TopicDescription("t", TOPIC_ID, False, tuple(self.partitions))})

    def list_offsets(self, specs):
        return Results(dict.fromkeys(specs, ListedOffset(5, self.newest_ms, 0)))


@pytest.fixture
def patient(monkeypatch):
    made = Patient()
    monkeypatch.setattr(Connection, "admin", lambda _: contextlib.nullcontext(made))
    return made


def findings():
    return {(item.check, item.target): item for item in check_cluster(Connection({}), probe=False)}


def only_trouble():
    (found,) = [item for item in findings().values() if item.status != "OK"]
    assert found.cause
    assert found.fix
    return found


def test_all_is_well(patient):
    assert {item.status for item in findings().values()} == {"OK"}


def test_a_missing_controller_is_reported(patient):
    patient.controller = None
    assert only_trouble().detail == "the cluster has no controller"


def test_a_broker_that_lacks_an_api(patient):
    patient.apis[2] = [name for name in NEEDED if name != "FETCH"]
    found = only_trouble()
    assert (found.check, found.target) == ("versions", "broker 2")
    assert found.detail == "does not serve FETCH"


def test_a_broker_that_does_not_tell_its_versions(patient):
    patient.apis[1] = None
    assert only_trouble().check == "versions"


def test_under_replicated_partitions(patient):
    patient.partitions[1] = PartitionDescription(1, 2, 0, (2, 1), (2,))
    found = only_trouble()
    assert (found.check, found.target) == ("replicas", "t-1")
    assert found.detail == "1 of 2 partitions are under-replicated"


def test_partitions_without_a_leader(patient):
    patient.partitions = [PartitionDescription(n, None, 0, (1, 2), ()) for n in range(7)]
    found = only_trouble()
    assert (found.check, found.detail) == ("leaders", "7 of 7 partitions have no leader")
    assert found.target == "t-0, t-1, t-2, t-3, t-4, … (7)"


def test_records_from_the_future(patient):
    patient.newest_ms = SystemClock().now_ms() + 3_600_000
    found = only_trouble()
    assert (found.check, found.status) == ("clock", "WARNING")
    assert "in the future" in found.detail


def test_internal_topics_tell_nothing_of_clocks(patient, monkeypatch):
    internal = TopicDescription("__t", TOPIC_ID, True, tuple(patient.partitions))
    monkeypatch.setattr(patient, "describe_topics", lambda _: Results({"__t": internal}))
    patient.newest_ms = 2**60
    assert findings()[("clock", "records")].status == "OK"
