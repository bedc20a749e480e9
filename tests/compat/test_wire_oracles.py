"""Two foreign codecs as oracles: the bytes are equal, and each side reads the other's."""

import pytest
from hypothesis import HealthCheck, given, settings
from support.soak import SOAK
from support.wire.kafka_python import (
    kafka_python_bytes,
    kafka_python_decode,
    maybe_kafka_python_class,
    to_kafka_python,
)
from support.wire.kio import is_in_kio, kio_bytes, kio_class, kio_decode, kio_values, to_kio
from support.wire.schemas import all_cases, instances

pytestmark = pytest.mark.compat

QUICK = settings(
    max_examples=12 if SOAK else 4,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
KIO = [case for case in all_cases() if is_in_kio(case)]
KAFKA_PYTHON = [case for case in all_cases() if maybe_kafka_python_class(case)]


def test_that_the_judges_know_most_of_it():
    judged = {*KIO, *KAFKA_PYTHON}
    print(f"{len(KIO)} by kio, {len(KAFKA_PYTHON)} by kafka-python, {len(judged)} in all")
    assert len(KIO) >= 500
    assert len(KAFKA_PYTHON) >= 470
    # What nobody else knows: ZooKeeper's control plane, coordinator records, AlterPartition v0-1.
    alone = {case.schema.stem for case in all_cases() if case not in judged}
    assert {"leader_and_isr", "stop_replica", "update_metadata", "controlled_shutdown"} <= alone


@pytest.mark.parametrize("subject", KIO, ids=lambda case: case.name)
def test_against_kio(subject):
    layout, ours = subject.layout, subject.cls
    cls = kio_class(subject)

    @QUICK
    @given(instances(subject.schema.stem, layout, kio_values(cls)))
    def check(instance):
        theirs = to_kio(layout, instance, cls)
        data = b"".join(instance.encode(subject.version))
        assert data == kio_bytes(theirs)
        assert ours.decode(memoryview(kio_bytes(theirs)), subject.version) == instance
        assert kio_decode(cls, data) == theirs

    check()


@pytest.mark.parametrize("subject", KAFKA_PYTHON, ids=lambda case: case.name)
def test_against_kafka_python(subject):
    layout, ours = subject.layout, subject.cls
    cls = maybe_kafka_python_class(subject)

    @QUICK
    @given(instances(subject.schema.stem, layout))
    def check(instance):
        theirs = to_kafka_python(layout, instance, cls, subject.version)
        data = b"".join(instance.encode(subject.version))
        their_data = kafka_python_bytes(subject, theirs)
        assert data == their_data
        assert ours.decode(memoryview(their_data), subject.version) == instance
        if subject.message.body.name == "ApiVersionsResponse" and instance.error_code:
            return  # it reads errors of any version as version 0
        again = kafka_python_decode(subject, cls, data)
        assert again.to_dict(json=False) == theirs.to_dict(json=False)

    check()
