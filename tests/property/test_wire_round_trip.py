"""Every message in every version: our bytes are those of a plain interpreter, and come back."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.soak import SOAK
from support.wire import reference as wire_reference
from support.wire.schemas import all_cases, case, instances

from barnabas.model.errors import ProtocolError
from barnabas.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

QUICK = settings(
    max_examples=12 if SOAK else 6,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
UNKNOWN_TAGS = {7: b"", 9000: b"unknown to us"}


def test_that_nothing_is_left_out():
    keys = {c.message.api_key for c in all_cases() if c.message.api_key is not None}
    assert {*range(52), 56, 57, 60, 61, *range(65, 70), 71, 72, 74, 75} == keys
    assert len(all_cases()) == 604


@pytest.mark.parametrize("subject", all_cases(), ids=lambda c: c.name)
def test_round_trip(subject):
    layout, cls, version = subject.layout, subject.cls, subject.version

    @QUICK
    @given(instances(subject.schema.stem, layout))
    def check(instance):
        data = b"".join(instance.encode(version))
        assert data == wire_reference.encode(layout, instance).data
        assert cls.decode(memoryview(data), version) == instance
        # Elsewhere in a buffer, with stray bytes after it, and with tags nobody knows.
        assert cls.decode(memoryview(b"\xff" + data + b"stray"), version, 1) == instance
        tagged = wire_reference.encode(layout, instance, UNKNOWN_TAGS).data
        assert cls.decode(memoryview(tagged), version) == instance

    check()


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_every_cut_is_rejected(data):
    """No prefix of a message is a message: each field takes at least a byte."""
    subject = data.draw(st.sampled_from(all_cases()))
    instance = data.draw(instances(subject.schema.stem, subject.layout))
    encoded = b"".join(instance.encode(subject.version))
    for cut in range(len(encoded)):
        with pytest.raises(ProtocolError):
            subject.cls.decode(memoryview(encoded)[:cut], subject.version)


def test_records_are_not_copied():
    subject = case("ProduceRequest", 9)
    frame = bytearray(b"".join(_produce().encode(9)))
    decoded = subject.cls.decode(memoryview(frame), 9)
    records = decoded.topic_data[0].partition_data[0].records
    records[0] = 0x78
    assert b"xecords" in frame


def test_records_are_handed_on_by_reference():
    message = _produce()
    assert any(
        part is message.topic_data[0].partition_data[0].records for part in message.encode(9)
    )


def _produce():
    partition = PartitionProduceData(0, b"records")
    return ProduceRequest(topic_data=[TopicProduceData("t", partition_data=[partition])])
