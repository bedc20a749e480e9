"""Keys that the producer, the consumers and the admin client share."""

from barnabas.model.config import ConfigKey, ConfigType, at_least, one_of

INT, LONG, STRING, LIST = ConfigType.INT, ConfigType.LONG, ConfigType.STRING, ConfigType.LIST
BOOLEAN, PASSWORD = ConfigType.BOOLEAN, ConfigType.PASSWORD

CONNECTION_KEYS = [
    ConfigKey(
        "bootstrap.servers",
        LIST,
        None,
        "host:port of some brokers, from which the rest of the cluster is learned.",
        lambda value: None if value else "at least one host:port is needed",
        required=True,
    ),
    ConfigKey("client.id", STRING, "barnabas", "Name of this client in the broker's logs."),
    ConfigKey(
        "metadata.max.age.ms", LONG, 300_000, "Age at which metadata is fetched anew.", at_least(0)
    ),
    ConfigKey("request.timeout.ms", INT, 30_000, "Longest wait for one answer.", at_least(1)),
    ConfigKey("retry.backoff.ms", LONG, 100, "First pause before a retry.", at_least(0)),
    ConfigKey("retry.backoff.max.ms", LONG, 1000, "Longest pause before a retry.", at_least(0)),
    ConfigKey("reconnect.backoff.ms", LONG, 50, "First pause before a reconnect.", at_least(0)),
    ConfigKey(
        "reconnect.backoff.max.ms", LONG, 1000, "Longest pause before a reconnect.", at_least(0)
    ),
    ConfigKey(
        "connections.max.idle.ms", LONG, 540_000, "Idle time after which a connection is closed."
    ),
    ConfigKey(
        "socket.connection.setup.timeout.ms",
        LONG,
        10_000,
        "Longest wait for a connection.",
        at_least(1),
    ),
    ConfigKey(
        "send.buffer.bytes", INT, 131_072, "SO_SNDBUF; -1 leaves the system's.", at_least(-1)
    ),
    ConfigKey(
        "receive.buffer.bytes", INT, 65_536, "SO_RCVBUF; -1 leaves the system's.", at_least(-1)
    ),
    ConfigKey(
        "metadata.recovery.strategy",
        STRING,
        "rebootstrap",
        "What to do when no known broker answers: ask the bootstrap servers again, or not.",
        one_of("none", "rebootstrap"),
    ),
    ConfigKey("client.rack", STRING, "", "Rack of this client, for reading from near replicas."),
]

SECURITY_KEYS = [
    ConfigKey(
        "security.protocol",
        STRING,
        "PLAINTEXT",
        "How brokers are spoken to.",
        one_of("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    ),
    ConfigKey("ssl.ca.location", STRING, None, "File of the CA certificates to trust."),
    ConfigKey("ssl.certificate.location", STRING, None, "File of this client's certificate."),
    ConfigKey("ssl.key.location", STRING, None, "File of this client's private key."),
    ConfigKey("ssl.key.password", PASSWORD, None, "Password of that key."),
    ConfigKey(
        "ssl.endpoint.identification.algorithm",
        STRING,
        "https",
        "'https' checks the broker's host name, empty does not.",
        one_of("https", ""),
    ),
    ConfigKey("sasl.mechanism", STRING, "GSSAPI", "SASL mechanism."),
    ConfigKey("sasl.username", STRING, None, "User name for PLAIN and SCRAM."),
    ConfigKey("sasl.password", PASSWORD, None, "Password for PLAIN and SCRAM."),
]

CLIENT_KEYS = [*CONNECTION_KEYS, *SECURITY_KEYS]
