"""librdkafka's mock cluster, controlled by its C functions: a foreign broker for our clients."""

import ctypes
from contextlib import contextmanager
from pathlib import Path

import confluent_kafka

PRODUCER = 0
OWN_VERSIONS = {10: 2, 11: 5, 12: 3, 13: 1, 14: 3}
"""FindCoordinator, JoinGroup, Heartbeat, LeaveGroup, SyncGroup: what librdkafka itself speaks.

The mock's flexible versions of these are broken.
"""


def _library():
    package = Path(confluent_kafka.__file__).parent
    found = sorted(package.parent.glob("confluent_kafka.libs/librdkafka-*.so*"))
    return None if not found else ctypes.CDLL(str(found[0]))


LIBRARY = _library()


class MockCluster:
    """`nodes` brokers with ids from 1."""

    def __init__(self, library, handle, cluster):
        self._library, self._handle, self._cluster = library, handle, cluster

    @property
    def bootstrap_servers(self):
        function = self._library.rd_kafka_mock_cluster_bootstraps
        function.restype = ctypes.c_char_p
        function.argtypes = [ctypes.c_void_p]
        return function(self._cluster).decode()

    def topic(self, name, partitions, replicas=1):
        function = self._library.rd_kafka_mock_topic_create
        function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
        assert function(self._cluster, name.encode(), partitions, replicas) == 0
        return name

    def move_leader(self, topic, partition, node):
        function = self._library.rd_kafka_mock_partition_set_leader
        function.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32]
        assert function(self._cluster, topic.encode(), partition, node) == 0

    def fail(self, api_key, *codes):
        """Returns these error codes to the next requests of an API."""
        function = self._library.rd_kafka_mock_push_request_errors_array
        function.argtypes = [
            ctypes.c_void_p,
            ctypes.c_int16,
            ctypes.c_size_t,
            ctypes.POINTER(ctypes.c_int),
        ]
        function(self._cluster, api_key, len(codes), (ctypes.c_int * len(codes))(*codes))

    def limit(self, api_key, lowest, highest):
        function = self._library.rd_kafka_mock_set_apiversion
        function.argtypes = [ctypes.c_void_p, ctypes.c_int16, ctypes.c_int16, ctypes.c_int16]
        assert function(self._cluster, api_key, lowest, highest) == 0


@contextmanager
def mock_cluster(nodes=1):
    library = LIBRARY
    library.rd_kafka_conf_new.restype = ctypes.c_void_p
    library.rd_kafka_new.restype = ctypes.c_void_p
    library.rd_kafka_new.argtypes = [
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    library.rd_kafka_mock_cluster_new.restype = ctypes.c_void_p
    library.rd_kafka_mock_cluster_new.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.rd_kafka_mock_cluster_destroy.argtypes = [ctypes.c_void_p]
    library.rd_kafka_destroy.argtypes = [ctypes.c_void_p]
    error = ctypes.create_string_buffer(512)
    handle = library.rd_kafka_new(PRODUCER, library.rd_kafka_conf_new(), error, 512)
    assert handle, error.value
    cluster = library.rd_kafka_mock_cluster_new(handle, nodes)
    made = MockCluster(library, handle, cluster)
    for api_key, highest in OWN_VERSIONS.items():
        made.limit(api_key, 0, highest)
    try:
        yield made
    finally:
        library.rd_kafka_mock_cluster_destroy(cluster)
        library.rd_kafka_destroy(handle)
