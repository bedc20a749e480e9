"""Records that somebody waits for one by one: each a batch of its own, past the queues.

The rules are the sender's, and so is the state: a lone batch is numbered, counted in flight,
answered, retried and failed like any other. Only the way to the socket and back is shorter. It is
taken when nothing else is to be sent; what lies on it is found out once per partition (`Route`):
the connection, the bytes around the batch, and what an answer looks like that stores it.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

from barnabas.clients.core.client import KafkaClient
from barnabas.clients.producer._send_hot import SendFuture
from barnabas.clients.producer.accumulator import Accumulator
from barnabas.clients.producer.batch import ProducerBatch
from barnabas.clients.producer.encoding import build, builder_of, seal
from barnabas.clients.producer.identity import ProducerIdentity
from barnabas.clients.producer.routes import Route
from barnabas.clients.producer.settings import ProducerSettings
from barnabas.model.errors import BarnabasError
from barnabas.model.ids import TopicPartition
from barnabas.records._append_hot import RecordAppender
from barnabas.wire.messages.produce import ProduceRequest, ProduceResponse

if TYPE_CHECKING:
    from barnabas.clients.producer.sender import Sender


class LoneSender:
    """Owned by the sender's loop."""

    def __init__(
        self,
        settings: ProducerSettings,
        client: KafkaClient,
        accumulator: Accumulator,
        identity: ProducerIdentity,
        sender: "Sender",
    ) -> None:
        self._client = client
        self._metadata = client.metadata
        self._accumulator = accumulator
        self._identity = identity
        self._sender = sender
        self._timeout_s = settings.request_timeout_ms / 1000
        self._builder = builder_of(settings)
        self._routes: dict[TopicPartition, Route] = {}

    def send(self, place: TopicPartition, record: RecordAppender) -> SendFuture | None:
        """A record as a batch of its own, now; None when anything stands before it.

        With empty queues nothing is overtaken.
        """
        if self._accumulator.has_waiting or self._client.metadata_is_stale:
            return None
        route = self._routes.get(place)
        if route is None or not route.holds(self._metadata.generation):
            route = self._find_route(place)
        if route is None or not self._sender.may_send(place, route.node_id):
            return None
        future = self._accumulator.lone(place, record)
        if future is not None:
            self._send(future.batch, route)
        return future

    def _send(self, batch: ProducerBatch, route: Route) -> None:
        self._identity.sending(batch)
        build(batch, self._builder)
        seal(batch)
        batch.attempts = 1
        self._sender.sending_to(route.node_id, route.connection)
        answered = partial(self._answered, batch, route)
        asked = (ProduceRequest, route.version)
        frame = route.frame(batch.payload)
        try:
            route.connection.ask_frame(frame, asked, answered, self._timeout_s, route.read)
        except BarnabasError as error:
            self._sender.answered(route.node_id, [batch], None, error)

    def _answered(
        self, batch: ProducerBatch, route: Route, response: Any, error: BarnabasError | None
    ) -> None:
        if type(response) is int:
            self._sender.stored_at(route.node_id, batch, response)
            return
        if isinstance(response, ProduceResponse):
            route.learn(response)
        self._sender.answered(route.node_id, [batch], response, error)

    def _find_route(self, place: TopicPartition) -> Route | None:
        leader = self._metadata.leader_of(place)
        connection = None if leader is None else self._client.connected(leader[0].id)
        if leader is None or connection is None:
            return None
        form = self._sender.requests.form(place, connection)
        route = Route(leader[0].id, connection, form, self._metadata.generation)
        self._routes[place] = route
        return route
