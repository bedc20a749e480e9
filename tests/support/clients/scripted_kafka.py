"""A scripted cluster: real sockets and frames, with responses from a script instead of brokers.

ApiVersions, Metadata and FindCoordinator are answered from plain attributes; every other API by
the function that a test put under its request class. What came is kept with the node it came to.
"""

import asyncio
import struct

from barnabas.model.error_codes import ErrorCode
from barnabas.model.ids import ZERO_UUID
from barnabas.wire.api_keys import request_class
from barnabas.wire.headers import decode_request_header, encode_response
from barnabas.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
)
from barnabas.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


class ScriptedKafka:
    """Nodes 1 to n. `topics` maps a name to the leaders of its partitions."""

    def __init__(self, nodes=1):
        self.controller_id = 1
        self.topics = {}
        self.topic_ids = {}
        self.coordinators = {}
        self.seen = []
        self.max_versions = {}
        self._answers = {
            ApiVersionsRequest: self._api_versions,
            MetadataRequest: self._metadata,
            FindCoordinatorRequest: self._find_coordinator,
        }
        self._nodes = dict.fromkeys(range(1, nodes + 1))
        self._connections = []

    async def __aenter__(self):
        for node in self._nodes:
            self._nodes[node] = await asyncio.start_server(self._serve(node), "127.0.0.1", 0)
        return self

    async def __aexit__(self, *failure):
        for node in list(self._nodes):
            await self.kill(node)

    @property
    def bootstrap_servers(self):
        return f"127.0.0.1:{self.port(min(self._nodes))}"

    def port(self, node):
        return self._nodes[node].sockets[0].getsockname()[1]

    def on(self, request, answer):
        """Responds to a request class with `answer(node, request)`, or always with the same
        response.
        """
        self._answers[request] = answer if callable(answer) else lambda *_: answer

    def asked(self, request):
        """Returns the (node, request) pairs of one class, in the order of arrival."""
        return [item for item in self.seen if type(item[1]) is request]

    async def kill(self, node):
        """Stops a node permanently: closes its connections and its listener."""
        server = self._nodes.pop(node)
        server.close()
        ended = [task for owner, writer, task in self._connections if owner == node]
        for owner, writer, _ in self._connections:
            if owner == node:
                writer.transport.abort()
        await asyncio.gather(*ended)
        await server.wait_closed()

    def _serve(self, node):
        async def serve(reader, writer):
            entry = (node, writer, asyncio.current_task())
            self._connections.append(entry)
            try:
                while True:
                    (size,) = struct.unpack(">i", await reader.readexactly(4))
                    frame = memoryview(await reader.readexactly(size))
                    writer.writelines(self._answer(node, frame))
                    await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                self._connections.remove(entry)
                writer.close()

        return serve

    def _answer(self, node, frame):
        header, offset = decode_request_header(frame)
        request = request_class(header.api_key).decode(frame, header.api_version, offset)
        self.seen.append((node, request))
        response = self._answers[type(request)](node, request)
        return encode_response(header.correlation_id, response, header.api_key, header.api_version)

    def _api_versions(self, node, request):
        kinds = [*self._answers]
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(
                    kind.API_KEY, kind.MIN_VERSION, self.max_versions.get(kind, kind.MAX_VERSION)
                )
                for kind in kinds
            ]
        )

    def _metadata(self, node, request):
        names = self.topics if request.topics is None else [self._name(t) for t in request.topics]
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=each, host="127.0.0.1", port=self.port(each))
                for each in self._nodes
            ],
            cluster_id="scripted",
            controller_id=self.controller_id,
            topics=[self._topic(name) for name in names],
        )

    def _name(self, topic):
        return next((n for n, i in self.topic_ids.items() if i == topic.topic_id), topic.name)

    def _topic(self, name):
        if name not in self.topics:
            return MetadataResponseTopic(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=name)
        return MetadataResponseTopic(
            name=name,
            topic_id=self.topic_ids.get(name, ZERO_UUID),
            partitions=[
                MetadataResponsePartition(
                    partition_index=index, leader_id=leader, replica_nodes=[1], isr_nodes=[1]
                )
                for index, leader in enumerate(self.topics[name])
            ],
        )

    def _find_coordinator(self, node, request):
        keys = request.coordinator_keys or [request.key]
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(key=key, node_id=self.coordinators.get(key, 1)) for key in keys
            ]
        )
