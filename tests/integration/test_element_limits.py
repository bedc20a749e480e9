"""Every API with a limited array: a request at the limit is served, one above gets an error.

The limits are small here, so that every API is cheap to test. The last test compares the real ones
with the size above which the broker checks them.
"""

import pytest
from support.network.requests import create_topic, metadata

from barnabas.broker import dispatch, request_limits
from barnabas.broker.error_responses import error_codes
from barnabas.broker.handlers import HANDLERS
from barnabas.broker.request_limits import (
    ERROR_RESPONSE_FACTOR,
    LIMITED_ARRAYS,
    LOOP_BUDGET,
    LOOP_BUDGETS,
    element_limit,
    limit_error,
)
from barnabas.model.error_codes import ErrorCode
from barnabas.model.errors import DecodingBudgetError
from barnabas.wire.api_keys import ApiKey, request_class
from scripts.request_costs import request_with_array

pytestmark = pytest.mark.integration

SPARE = 100
PARTITIONS = 1
LIMIT = PARTITIONS + SPARE
VERSIONS = {handler.api: handler.versions for handler in HANDLERS}


def has_arrays(made, path, version):
    """Whether a version of the request has all arrays of the path."""
    for name in path:
        fields = {field[0]: field for field in made.FIELDS}
        if not fields[name][2] <= version <= fields[name][3]:
            return False
        made = getattr(
            __import__(made.__module__, fromlist=["x"]), fields[name][1].strip("[]"), None
        )
    return True


def cases():
    for api, paths in LIMITED_ARRAYS.items():
        first, last = VERSIONS[api]
        for path in paths:
            versions = [
                version
                for version in range(first, last + 1)
                if has_arrays(request_class(int(api)), path, version)
            ]
            yield pytest.param(api, path, versions[-1], id=f"{api.name}-{'.'.join(path)}")


CASES = list(cases())


@pytest.fixture
async def limited_peer(peer, monkeypatch):
    """A client of a broker with one partition and small limits."""
    await create_topic(peer, "t")
    monkeypatch.setattr(dispatch, "LOOP_BUDGET", 1024)
    monkeypatch.setattr(dispatch, "LOOP_BUDGETS", {})
    monkeypatch.setattr(request_limits, "SPARE_ELEMENTS", SPARE)
    monkeypatch.setattr(request_limits, "SPARE_ELEMENTS_BY_API", {})
    return peer


@pytest.mark.parametrize(("api", "path", "version"), CASES)
async def test_a_request_at_the_limit_is_answered(limited_peer, api, path, version, caplog):
    request = request_with_array(api, path, LIMIT)
    await limited_peer.call(request, version)
    assert "the limit is" not in caplog.text


@pytest.mark.parametrize(("api", "path", "version"), CASES)
async def test_a_request_above_the_limit_gets_an_error(limited_peer, api, path, version, caplog):
    request = request_with_array(api, path, LIMIT + 1)
    response = await limited_peer.call(request, version)
    assert error_codes(response) == {limit_error(api)}
    assert f"{api.name} names {LIMIT + 1} elements, the limit is {LIMIT}" in caplog.text
    assert f"the {PARTITIONS} partitions of the cluster and {SPARE} more" in caplog.text
    assert (await metadata(limited_peer, "t")).topics[0].error_code == 0  # still connected


@pytest.mark.parametrize("api", [ApiKey.LIST_OFFSETS, ApiKey.DELETE_TOPICS])
async def test_a_request_far_above_the_limit_closes_the_connection(limited_peer, api, caplog):
    path, version, count = LIMITED_ARRAYS[api][-1], 5, ERROR_RESPONSE_FACTOR * LIMIT + 1
    limited_peer.send(request_with_array(api, path, count), version)
    assert await limited_peer.is_closed()
    assert f"{api.name} names {count} elements, the limit is {LIMIT}" in caplog.text


def test_clients_get_an_error_that_fits_the_request():
    assert limit_error(ApiKey.PRODUCE) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert limit_error(ApiKey.DELETE_TOPICS) is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(("api", "path", "version"), CASES)
def test_a_request_above_the_real_limit_is_not_decoded_on_the_loop(api, path, version):
    """The limit would not be checked otherwise."""
    request = request_with_array(api, path, element_limit(api, PARTITIONS) + 1)
    body = memoryview(b"".join(bytes(part) for part in request.encode(version)))
    with pytest.raises(DecodingBudgetError):
        request_class(int(api)).decode(body, version, 0, LOOP_BUDGETS.get(api, LOOP_BUDGET))
