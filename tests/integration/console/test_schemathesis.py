"""Requests generated from /openapi.json: no response may be a server error.

BARNABAS_SOAK=1 sends many more.
"""

import asyncio

import httpx
import hypothesis
import schemathesis
from support.console.requests import api_of, call
from support.soak import SOAK

from barnabas.testing import Broker

EXAMPLES = 60 if SOAK else 4
STREAMS = ("/live", "/events", "/tail", "/follow")


def operations_of(document):
    """Returns all operations except endless streams."""
    schema = schemathesis.openapi.from_dict(document)
    found = [result.ok() for result in schema.get_all_operations()]
    return [operation for operation in found if not operation.path.endswith(STREAMS)]


def cases_of(operation):
    """Returns generated requests of an operation."""
    cases = []

    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=operation.as_strategy())
    def collect(case):
        cases.append(case)

    collect()
    return cases


async def send(api, case):
    arguments = case.as_transport_kwargs(base_url="http://localhost")
    url = httpx.URL(arguments["url"])
    if arguments.get("params"):
        url = url.copy_merge_params(arguments["params"])
    status, body, _ = await asyncio.wait_for(
        call(api, case.method, str(url), arguments.get("json")), 60
    )
    return status, body, str(url)


async def test_generated_requests_find_no_server_error():
    """Has a broker of its own, because the requests change topics and settings."""
    failures = []
    with Broker() as broker:
        api = api_of(broker.bootstrap_servers)
        cases = [case for item in operations_of(api.openapi()) for case in cases_of(item)]
        for case in cases:
            status, body, url = await send(api, case)
            if status >= 500:
                failures.append((case.method, url, case.body, status, body))
        await api.state.console.close()
    assert len(cases) > 100
    assert failures == []
