"""Until a broker is part of its cluster only the controller gets an answer."""

from types import SimpleNamespace

import pytest

from barnabas.broker.cluster.start_gate import start_gate
from barnabas.net.connection_ports import ConnectionClosedError
from barnabas.net.refusal import Refusal
from barnabas.wire.api_keys import ApiKey


def context(api):
    return SimpleNamespace(header=SimpleNamespace(api_key=int(api)))


@pytest.mark.parametrize("api", [ApiKey.UPDATE_METADATA, ApiKey.API_VERSIONS])
def test_the_controller_comes_in(api):
    assert start_gate(context(api), "request", lambda _, request: request) == "request"


@pytest.mark.parametrize("api", [ApiKey.PRODUCE, ApiKey.METADATA, ApiKey.FETCH])
def test_others_find_the_door_closed(api):
    with pytest.raises(ConnectionClosedError) as refused:
        start_gate(context(api), "request", lambda _, request: request)
    assert refused.value.reason is Refusal.NOT_STARTED
