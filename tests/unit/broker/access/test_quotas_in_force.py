"""Quotas on time and on connections, and muting, on a virtual clock."""

from functools import partial
from types import SimpleNamespace

from support.clients.manual_loop import ManualLoop

from barnabas.broker.access.client_quotas import ClientQuotas
from barnabas.broker.access.metering import EXEMPT, RequestQuota, metered
from barnabas.broker.access.throttling import ConnectionRates, Muting, RatedConnections
from barnabas.broker.handler import Handler, RequestContext
from barnabas.net.close_reasons import CloseReason
from barnabas.security.quotas import Rate
from barnabas.wire.api_keys import ApiKey
from barnabas.wire.headers import RequestHeader
from barnabas.wire.messages.fetch import FetchRequest, FetchResponse, ReplicaState
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.wire.messages.produce import ProduceRequest, ProduceResponse

MEASURE = {"samples": 11, "window_ms": 1000}
MS = 1_000_000


class Connection:
    """The effect of quotas on a connection."""

    def __init__(self, host="10.0.0.1"):
        self.stream = SimpleNamespace(peer=(host, 1))
        self.principal = SimpleNamespace(name="alice")
        self.paused = False
        self.refused = None

    def pause(self):
        self.paused = True

    def unpause(self):
        self.paused = False

    def close_with_reason(self, reason, detail):
        self.refused = reason


class World:
    """Meters with limits, on a loop that waits."""

    def __init__(self, **limits):
        self.loop = ManualLoop()
        self.clock = self.loop.clock
        self.quotas = ClientQuotas(self.clock, **MEASURE)
        self.limit(**limits)
        self.muting = Muting(self.clock, self.loop.schedule)
        self.busy_ns = 0
        self.requests = RequestQuota(self.quotas.requests, self.muting, lambda: self.busy_ns)
        self.connection = Connection()

    def limit(self, **limits):
        entities = {path.replace("_", "/"): values for path, values in limits.items()}
        self.quotas.load(SimpleNamespace(all=lambda: entities))

    def serve(self, api, request, response, *, before_ms=0, within_ms=0, after_ms=0):
        """One request through the dispatcher and the handler, each taking its time."""

        def handle(ctx, request):
            self.busy_ns += within_ms * MS
            return response

        (handler,) = metered(
            [Handler(api, (0, 99), handle)], self.quotas, self.requests, self.muting
        )
        header = RequestHeader(int(api), 9, 1, "etl")

        def dispatch(connection, frame):
            self.busy_ns += before_ms * MS
            ctx = RequestContext(header, connection, None)
            result = handler.handle(ctx, request)
            answer = result if ctx.amend is None else ctx.amend(result)
            self.busy_ns += after_ms * MS
            return answer

        return self.requests.timed(dispatch)(self.connection, b"")

    def ask(self, **times):
        answer = self.serve(ApiKey.METADATA, MetadataRequest(), MetadataResponse(), **times)
        return answer.throttle_time_ms


# Time on the loop


def test_a_client_within_its_share_is_not_held_up():
    world = World(clients_etl={"request_percentage": "10"})
    for _ in range(100):
        world.loop.advance(100)
        assert world.ask(before_ms=3, within_ms=3, after_ms=3) == 0
    assert not world.connection.paused


def test_a_client_over_its_share_waits_until_the_excess_is_worked_off():
    world = World(clients_etl={"request_percentage": "10"})
    # A tenth of ten seconds is one; half as much again takes five seconds to be worked off, of
    # which a client is told one window at a time.
    assert world.ask(within_ms=1500) == 1000
    assert world.connection.paused
    world.loop.advance(999)
    assert world.connection.paused
    world.loop.advance(1)
    assert not world.connection.paused
    assert world.ask(within_ms=1) == 1000


def test_time_after_the_response_counts_for_the_next_request():
    world = World(clients_etl={"request_percentage": "10"})
    assert world.ask(before_ms=500, within_ms=499, after_ms=101) == 0
    assert world.ask() > 0


def test_without_a_quota_nothing_is_measured():
    world = World()
    assert world.ask(within_ms=10_000) == 0
    world.limit(users_bob={"request_percentage": "1"})
    assert world.ask(within_ms=10_000) == 0


def test_a_quota_can_be_taken_away():
    world = World(clients_etl={"request_percentage": "1"})
    assert world.ask(within_ms=5_000) > 0
    world.limit()
    assert world.ask(within_ms=5_000) == 0


def test_followers_and_brokers_are_exempt():
    world = World(clients_etl={"request_percentage": "1"})
    follower = FetchRequest(replica_state=ReplicaState(2, 1))
    for request in (follower, FetchRequest(replica_id=2)):
        assert world.serve(ApiKey.FETCH, request, FetchResponse(), within_ms=5_000)
    for api in EXEMPT:
        assert world.serve(api, SimpleNamespace(), MetadataResponse(), within_ms=5_000)
    assert not world.connection.paused
    answer = world.serve(ApiKey.FETCH, FetchRequest(), FetchResponse(), within_ms=5_000)
    assert answer.throttle_time_ms > 0


def test_the_longer_of_two_throttle_times_is_returned_and_applied():
    world = World(clients_etl={"request_percentage": "10", "producer_byte_rate": "1000000"})
    assert world.ask(within_ms=1040) == 400
    answer = world.serve(ApiKey.PRODUCE, ProduceRequest(), ProduceResponse())
    assert answer.throttle_time_ms == 400
    world.muting.mute(world.connection, 700)
    world.muting.mute(world.connection, 100)
    world.loop.advance(699)
    assert world.connection.paused
    world.loop.advance(1)
    assert not world.connection.paused
    assert world.loop.waiting == 0


def test_a_deferred_response_is_charged_only_for_its_own_request():
    world = World(clients_etl={"request_percentage": "10"})
    later = []

    def handle(ctx, request):
        later.append(ctx.amend)
        return MetadataResponse()

    (handler,) = metered(
        [Handler(ApiKey.METADATA, (0, 99), handle)], world.quotas, world.requests, world.muting
    )
    ctx = RequestContext(RequestHeader(3, 9, 1, "etl"), world.connection, None)
    world.requests.timed(lambda *_: handler.handle(ctx, MetadataRequest()))(None, b"")
    world.busy_ns += 60_000 * MS
    assert later[0](MetadataResponse()).throttle_time_ms == 0


# Connections


def rates(world, protected=None):
    return ConnectionRates(
        world.quotas.connections, world.clock, partial(Rate, **MEASURE), protected
    )


def rated(world, listener="A", shared=None):
    return RatedConnections(shared or rates(world), None, listener, world.loop.schedule)


def connect(listener, host="10.0.0.1"):
    connection = Connection(host)
    assert listener.secure(connection) is connection
    listener.accepted(connection)
    return connection


def test_an_address_over_its_rate_is_closed_after_a_while():
    world = World(**{"ips_10.0.0.1": {"connection_creation_rate": "1"}})
    listener = rated(world)
    assert not any(connect(listener).paused for _ in range(10))
    over = connect(listener)
    assert over.paused
    assert over.refused is None
    assert not connect(listener, "10.0.0.2").paused
    world.loop.advance(1000)
    assert over.refused is CloseReason.TOO_MANY_FROM_IP
    # What was refused does not count: when the first ones are old enough there is room again.
    world.loop.advance(10_000)
    assert not connect(listener).paused


def test_the_default_holds_for_each_address_alone():
    world = World(**{"ips_<default>": {"connection_creation_rate": "1"}})
    listener = rated(world)
    for host in ("10.0.0.1", "10.0.0.2"):
        assert not any(connect(listener, host).paused for _ in range(10))
        assert connect(listener, host).paused


def test_over_the_rate_of_all_connections_are_served_later():
    world = World()
    shared = rates(world)
    shared.limit(2, {})
    listener, other = rated(world, "A", shared), rated(world, "B", shared)
    assert not any(connect(listener).paused for _ in range(10))
    assert not any(connect(other).paused for _ in range(10))
    late = connect(listener)
    assert late.paused
    world.loop.advance(500)
    assert not late.paused
    assert late.refused is None


def test_a_listener_has_a_rate_of_its_own():
    world = World()
    shared = rates(world)
    shared.limit(2, {"A": 1})
    listener, other = rated(world, "A", shared), rated(world, "B", shared)
    assert not any(connect(listener).paused for _ in range(10))
    assert not connect(other).paused
    assert connect(listener).paused


def test_the_listener_of_brokers_has_its_own_rate_alone():
    world = World()
    shared = rates(world, "A")
    shared.limit(1, {})
    brokers, clients = rated(world, "A", shared), rated(world, "B", shared)
    assert not any(connect(brokers).paused for _ in range(10))
    assert not any(connect(clients).paused for _ in range(10))
    assert connect(clients).paused
    assert connect(brokers).paused


def test_the_security_of_the_listener_is_applied_too():
    world = World()
    seen = []
    security = SimpleNamespace(secure=lambda stream: ("tls", stream), accepted=seen.append)
    listener = RatedConnections(rates(world), security, "A", world.loop.schedule)
    connection = Connection()
    assert listener.secure("stream") == ("tls", "stream")
    listener.accepted(connection)
    assert seen == [connection]
