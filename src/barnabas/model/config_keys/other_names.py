"""Names of keys and values in other clients: Java's classes, librdkafka's properties.

A name with an equivalent here is declared with its key, in `aliases` for keys and `synonyms` for
values. The tables at the end list keys without an equivalent, each with the advice for the error.
"""

SERIALIZERS = {
    "StringSerializer": "string",
    "ByteArraySerializer": "bytes",
    "BytesSerializer": "bytes",
    "ByteBufferSerializer": "bytes",
    "IntegerSerializer": "int",
    "LongSerializer": "long",
    "DoubleSerializer": "double",
    "UUIDSerializer": "uuid",
}
DESERIALIZERS = {name.replace("Ser", "Deser"): value for name, value in SERIALIZERS.items()}

ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}

PARTITIONERS = {
    "DefaultPartitioner": "hash_or_round_robin",
    "RoundRobinPartitioner": "round_robin",
    "murmur2_random": "murmur2",
}

RESETS = {
    "smallest": "earliest",
    "beginning": "earliest",
    "largest": "latest",
    "end": "latest",
    "error": "none",
}

SECURITY_PROTOCOL_SYNONYMS = {
    name.lower(): name for name in ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
}

_LOGGING = "use Python's logging; the parent of all loggers is 'barnabas'"
_NEGOTIATED = "remove it, API versions are negotiated with each broker"

CLIENT_ADVICE = {
    "api.version.request": _NEGOTIATED,
    "api.version.fallback.ms": _NEGOTIATED,
    "broker.version.fallback": _NEGOTIATED,
    "debug": _LOGGING,
    "log_level": _LOGGING,
    "logger": _LOGGING,
    "log_cb": _LOGGING,
    "statistics.interval.ms": "there are no periodic statistics",
    "stats_cb": "there are no periodic statistics",
    "error_cb": "errors are logged and raised from the call that they affect",
    "throttle_cb": "throttling by a broker's quota is applied without a callback",
    "socket.keepalive.enable": "connections are closed after connections.max.idle.ms",
    "socket.nagle.disable": "Nagle's algorithm is always off",
    "broker.address.family": "all addresses of a host are tried; use an address instead of a name",
    "enable.ssl.certificate.verification": "set the trusted certificate with ssl.ca.location",
    "sasl.kerberos.service.name": "use sasl.mechanism PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
    "zookeeper.connect": "use bootstrap.servers, or ConsumerConnector for a group in ZooKeeper",
}

PRODUCER_ONLY = [
    "acks",
    "batch.size",
    "buffer.memory",
    "compression.type",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
    "delivery.timeout.ms",
    "enable.idempotence",
    "key.serializer",
    "linger.ms",
    "max.block.ms",
    "max.in.flight.requests.per.connection",
    "max.request.size",
    "metadata.max.idle.ms",
    "partitioner.adaptive.partitioning.enable",
    "partitioner.availability.timeout.ms",
    "partitioner.class",
    "partitioner.ignore.keys",
    "retries",
    "transaction.timeout.ms",
    "transactional.id",
    "value.serializer",
]
CONSUMER_ONLY = [
    "allow.auto.create.topics",
    "auto.commit.interval.ms",
    "auto.offset.reset",
    "auto.offset.reset.out.of.range",
    "bootstrap.timeout.ms",
    "check.crcs",
    "default.api.timeout.ms",
    "enable.auto.commit",
    "exclude.internal.topics",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "fetch.min.bytes",
    "group.id",
    "group.instance.id",
    "group.protocol",
    "group.remote.assignor",
    "heartbeat.interval.ms",
    "isolation.level",
    "key.deserializer",
    "max.decompressed.batch.bytes",
    "max.partition.fetch.bytes",
    "max.poll.interval.ms",
    "max.poll.records",
    "partition.assignment.strategy",
    "session.timeout.ms",
    "value.deserializer",
]
"""Keys that only one of the two clients has. Texts, so that neither imports the other's table."""

PRODUCER_ADVICE = {
    **CLIENT_ADVICE,
    **dict.fromkeys(CONSUMER_ONLY, "it is a key of consumers"),
    "batch.num.messages": "use batch.size, in bytes",
    "queue.buffering.max.messages": "use buffer.memory, in bytes",
    "compression.level": "use compression.gzip.level, compression.lz4.level or"
    " compression.zstd.level",
    "dr_cb": "use the future that send() returns",
    "dr_msg_cb": "use the future that send() returns",
    "on_delivery": "use on_delivery of send(), or the future that it returns",
    "delivery.report.only.error": "use the future that send() returns",
    "enable.gapless.guarantee": "use enable.idempotence",
    "sticky.partitioning.linger.ms": "use linger.ms and batch.size",
}

CONSUMER_ADVICE = {
    **CLIENT_ADVICE,
    **dict.fromkeys(PRODUCER_ONLY, "it is a key of producers"),
    "enable.auto.offset.store": "set enable.auto.commit=false and commit() the processed offsets",
    "enable.partition.eof": "compare position() with end_offsets()",
    "queued.min.messages": "use max.poll.records and fetch.max.bytes",
    "queued.max.messages.kbytes": "use fetch.max.bytes",
    "fetch.error.backoff.ms": "use retry.backoff.ms",
    "rebalance_cb": "pass a listener to subscribe()",
    "offset_commit_cb": "pass a callback to commit_async()",
    "consume.callback.max.messages": "use max.poll.records",
}

ANY_CLIENT_ADVICE = {
    **PRODUCER_ADVICE,
    **CONSUMER_ADVICE,
    **dict.fromkeys(PRODUCER_ONLY, "it is a key of producers"),
    **dict.fromkeys(CONSUMER_ONLY, "it is a key of consumers"),
}
"""For clients whose configuration file is shared with producers and consumers."""

_QUORUM = "metadata is stored in ZooKeeper (zookeeper.connect), or embedded when that is unset"
_ALL_VERSIONS = "remove it, the broker supports all protocol versions and record format v2"

BROKER_ADVICE = {
    "process.roles": _QUORUM,
    "controller.quorum.voters": _QUORUM,
    "controller.quorum.bootstrap.servers": _QUORUM,
    "controller.listener.names": _QUORUM,
    "metadata.log.dir": _QUORUM,
    "inter.broker.protocol.version": _ALL_VERSIONS,
    "log.message.format.version": _ALL_VERSIONS,
    "quota.producer.default": "set a quota for the default client with kafka-configs",
    "quota.consumer.default": "set a quota for the default client with kafka-configs",
    "log.message.timestamp.difference.max.ms": "use log.message.timestamp.before.max.ms and"
    " log.message.timestamp.after.max.ms",
}
