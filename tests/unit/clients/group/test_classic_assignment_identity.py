"""A member's id and generation: when they are kept, and when not."""

import pytest

from barnabas.clients.group.classic_assignment import ClassicIdentity
from barnabas.clients.group.settings import ConsumerSettings


@pytest.fixture
def make():
    def identity(**more):
        settings = ConsumerSettings.parse({"bootstrap.servers": "a:1", "group.id": "g", **more})
        return ClassicIdentity(settings.group)

    return identity


def test_without_a_generation_it_is_nobody(make):
    identity = make()
    identity.member_id = "m-1"
    assert (identity.metadata.member_id, identity.metadata.generation_id) == ("", -1)
    identity.joined("m-1", 3)
    assert (identity.metadata.member_id, identity.metadata.generation_id) == ("m-1", 3)


@pytest.mark.parametrize(
    ("reason", "kept"), [("ILLEGAL_GENERATION", "m-1"), ("UNKNOWN_MEMBER_ID", ""), ("silence", "")]
)
def test_only_after_an_illegal_generation_the_id_is_kept(make, reason, kept):
    identity = make()
    identity.joined("m-1", 3)
    identity.fenced(reason)
    assert (identity.member_id, identity.generation) == (kept, -1)


def test_a_member_without_id_and_a_static_member_send_no_leave_request(make):
    identity, static = make(), make(**{"group.instance.id": "i-1"})
    assert identity.leave_request("done") is None
    identity.joined("m-1", 3)
    static.joined("m-2", 3)
    assert identity.leave_request("done") is not None
    assert static.leave_request("done") is None
    assert (str(identity), str(static)) == ("m-1", "i-1")
    identity.forget()
    assert identity.leave_request("done") is None
