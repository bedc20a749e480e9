"""Long requests to a broker process: rejected, or served while another client gets its responses.

Nothing here knows how the broker serves a request, and no limit is a time: the other client's
longest wait is compared with the duration of the long request.
"""

import asyncio
import time

import pytest
from support.cluster.broker_process import BrokerProcess
from support.long_requests import TOPIC, exchange, frame_of
from support.wire.peer import WirePeer

from barnabas import Admin
from barnabas.wire.messages.api_versions import ApiVersionsRequest

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with BrokerProcess(tmp_path_factory.mktemp("broker")) as broker:
        with Admin({"bootstrap.servers": broker.bootstrap_servers}) as admin:
            admin.create_topic(TOPIC, 1)
        yield broker.port


async def longest_wait(peer, may_go_on):
    """Sends small requests one after the other; the longest time until a response."""
    longest = 0.0
    while may_go_on():
        begin = time.monotonic()
        await peer.call(ApiVersionsRequest(), 0, timeout=120)
        longest = max(longest, time.monotonic() - begin)
        await asyncio.sleep(0.001)
    return longest


async def timed_exchange(port, frame):
    begin = time.monotonic()
    outcome = await exchange(port, frame)
    return outcome, time.monotonic() - begin


@pytest.mark.parametrize("kind", ["create_topics", "fetch", "metadata"])
async def test_another_client_does_not_wait_for_a_long_request(port, kind):
    frame = await asyncio.to_thread(frame_of, kind)
    peer = await WirePeer.connect(port)
    try:
        sending = asyncio.ensure_future(timed_exchange(port, frame))
        longest = await longest_wait(peer, lambda: not sending.done())
        outcome, duration = await sending
    finally:
        await peer.close()
    print(f"{kind}: {outcome} after {duration:.3f} s; another client waited {longest:.3f} s")
    assert outcome == "refused" or longest < duration / 2
